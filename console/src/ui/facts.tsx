/** Renders short facts in a row, separated by dots. A line breaks between facts, and within one only if it is too long. */
import { Fragment } from 'react';

export function Facts({ facts }: { readonly facts: readonly string[] }) {
  return facts.map((fact, at) => (
    <Fragment key={fact}>
      {at > 0 && ' · '}
      <span className="inline-block max-w-full break-words">{fact}</span>
    </Fragment>
  ));
}
