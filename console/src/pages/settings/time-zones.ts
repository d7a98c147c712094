/** Lists the selectable time zones by their current names, and finds them by city or by a former name. */

export interface ZoneChoice {
  /** IANA name: `Asia/Kolkata`. */
  readonly zone: string;
  /** Lower-case search text: the name, the city, former names. */
  readonly text: string;
}

/**
 * Names that browsers still list (their data keeps a zone's first name forever), with their current names. Source:
 * `backward` of the IANA tz database, 2025b.
 */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** The current name of a zone, if the browser knows both names. */
export function currentZoneName(zone: string): string {
  const current = RENAMED[zone];
  return current !== undefined && isKnown(current) ? current : zone;
}

/** All zones, `UTC` first; includes the one in use when the browser does not list it. */
export function zoneChoices(
  inUse: string,
  listed: readonly string[] = Intl.supportedValuesOf('timeZone'),
): readonly ZoneChoice[] {
  const texts = new Map<string, string>();
  for (const name of ['UTC', inUse, ...listed]) {
    const zone = currentZoneName(name);
    texts.set(zone, `${texts.get(zone) ?? textOf(zone)}${name === zone ? '' : ` ${textOf(name)}`}`);
  }
  return [...texts].map(([zone, text]) => ({ zone, text }));
}

/** The choices that contain every word of the search; those whose city starts with it come first. */
export function findZones(choices: readonly ZoneChoice[], search: string): readonly ZoneChoice[] {
  const entered = plain(search).trim();
  const words = entered.split(/\s+/).filter((word) => word !== '');
  const found = choices.filter(({ text }) => words.every((word) => text.includes(word)));
  if (entered === '') return found;
  const begins = ({ zone }: ZoneChoice) => plain(cityOf(zone)).startsWith(entered);
  return [...found.filter(begins), ...found.filter((choice) => !begins(choice))];
}

/** `America/New_York` → `New York`. */
function cityOf(zone: string): string {
  return (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');
}

function textOf(zone: string): string {
  return `${zone.toLowerCase()} ${plain(zone)}`;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[_/]/g, ' ');
}

function isKnown(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
