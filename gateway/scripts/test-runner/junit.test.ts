/** Tests that every test of a JUnit file is parsed with its names and outcome, and that a truncated file is refused. */
import { expect, test } from 'bun:test';
import { parseFileSeconds, parseJunit } from './junit.ts';

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="5">
  <testsuite name="a.test.ts" file="a.test.ts" tests="5" time="1.25">
    <testcase name="one &lt;&amp;&quot;quoted&quot;&gt; &#10;" classname="" file="a.test.ts" assertions="1" />
    <testsuite name="outer" file="a.test.ts" time="0.5">
      <testsuite name="inner &gt; x" file="a.test.ts">
        <testcase name="in" classname="inner" file="a.test.ts">
          <skipped />
        </testcase>
      </testsuite>
      <testcase name="later" classname="outer" file="a.test.ts">
        <skipped message="TODO" />
      </testcase>
    </testsuite>
    <testcase name="fails" classname="" file="a.test.ts">
      <failure type="AssertionError" message="expected &lt;testcase name=&quot;x&quot;/&gt;">AssertionError: expected &lt;testcase name=&quot;x&quot;/&gt;&#10;&#10;      at a.test.ts:9:45&#10;</failure>
    </testcase>
    <testcase name="waits" classname="" file="a.test.ts">
      <failure type="TimeoutError" message="test timed out" />
    </testcase>
    <testcase name="last" classname="" file="a.test.ts" />
  </testsuite>
</testsuites>`;

test('names, nesting, outcomes and errors are read', () => {
  const file = 'a.test.ts';
  expect(parseJunit(REPORT)).toEqual([
    { file, path: ['one <&"quoted"> \n'], outcome: 'passed', error: '' },
    { file, path: ['outer', 'inner > x', 'in'], outcome: 'skipped', error: '' },
    { file, path: ['outer', 'later'], outcome: 'todo', error: '' },
    {
      file,
      path: ['fails'],
      outcome: 'failed',
      error: 'AssertionError: expected <testcase name="x"/>\n\n      at a.test.ts:9:45\n',
    },
    { file, path: ['waits'], outcome: 'failed', error: 'test timed out\n' },
    { file, path: ['last'], outcome: 'passed', error: '' },
  ]);
});

test('the time of a file is that of its outermost suite', () => {
  expect([...parseFileSeconds(REPORT)]).toEqual([['a.test.ts', 1.25]]);
});

test('a file cut anywhere before its end is refused', () => {
  const end = REPORT.indexOf('</testsuites>');
  for (let length = 0; length < end; length += 7) {
    expect(() => parseJunit(REPORT.slice(0, length))).toThrow('the run was cut');
  }
});
