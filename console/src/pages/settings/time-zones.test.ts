/** Tests that every time zone is listed once, by its current name, and found by city or former name. */
import { describe, expect, test } from 'bun:test';
import { currentZoneName, findZones, zoneChoices } from './time-zones.ts';

const LISTED = ['America/New_York', 'Asia/Calcutta', 'Asia/Kolkata', 'Europe/Berlin', 'Europe/Kiev', 'Asia/Saigon'];
const choices = zoneChoices('Europe/Berlin', LISTED);
const find = (text: string) => findZones(choices, text).map(({ zone }) => zone);

describe('time zones', () => {
  test('have unique current names, with UTC and the one in use first', () => {
    expect(choices.map(({ zone }) => zone)).toEqual([
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Europe/Kyiv',
      'Asia/Ho_Chi_Minh',
    ]);
  });

  test.each([
    ['kolkata', ['Asia/Kolkata']],
    ['Calcutta', ['Asia/Kolkata']],
    ['Europe/Kyiv', ['Europe/Kyiv']],
    ['Europe/Kiev', ['Europe/Kyiv']],
    ['new york', ['America/New_York']],
    ['america/new_york', ['America/New_York']],
    ['ho chi', ['Asia/Ho_Chi_Minh']],
    ['atlantis', []],
  ])('are found by %p', (text, zones) => {
    expect(find(text)).toEqual(zones);
  });

  test('those whose city starts with the search come first', () => {
    expect(
      findZones(zoneChoices('UTC', ['Asia/Aden', 'Europe/Asia_Town', 'Asia/Tokyo']), 'asia').map(({ zone }) => zone),
    ).toEqual(['Europe/Asia_Town', 'Asia/Aden', 'Asia/Tokyo']);
  });

  test('include the one in use by its current name if the browser doesn’t list it', () => {
    expect(zoneChoices('Pacific/Truk', []).map(({ zone }) => zone)).toEqual(['UTC', 'Pacific/Chuuk']);
    expect(currentZoneName('Europe/Berlin')).toBe('Europe/Berlin');
  });

  test('contain no former name in this runtime', () => {
    const names = zoneChoices('UTC').map(({ zone }) => zone);
    for (const former of ['Europe/Kiev', 'Asia/Calcutta', 'Asia/Saigon', 'America/Godthab']) {
      expect(names).not.toContain(former);
    }
    expect(names).toContain('Europe/Kyiv');
    expect(names).toContain('Asia/Kolkata');
  });
});
