/** Calls the console API from inside an open page, with its cookies and its policy, as the page's own code could. */
import type { Page } from 'playwright-core';

/** A response body; tests name the members that they check. */
type Loose = ReturnType<typeof JSON.parse>;

/** `route`: method and path below `/app/api`. */
export async function askFromPage(
  page: Page,
  route: string,
  body?: object,
): Promise<{ readonly status: number; readonly json: Loose }> {
  const [method = '', path = ''] = route.split(' ');
  return page.evaluate(
    async ({ method, path, body }) => {
      const init = body === null ? {} : { body, headers: { 'content-type': 'application/json' } };
      const response = await fetch(`/app/api${path}`, { method, ...init });
      return { status: response.status, json: await response.json() };
    },
    { method, path, body: body === undefined ? null : JSON.stringify(body) },
  );
}
