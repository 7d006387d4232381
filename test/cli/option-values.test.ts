import t from 'tap'
import {
  count,
  endTime,
  nameAndValue,
  port,
  repeated,
  rowNumber,
  seconds,
  severalOf,
  span,
  time,
  type ValueReader,
  versionOrLatest,
  wholeNumber,
} from '../../src/cli/option-values.js'
import { openPlace } from './place.js'

const hour = 3_600_000

// What it reads, what it refuses, and what it says that it expected.
const readers: Record<
  string,
  [read: ValueReader<unknown>, good: [string, unknown][], bad: string[], expected: string]
> = {
  'a count': [
    count,
    [
      ['1', 1],
      ['050', 50],
      ['999999999999999', 999_999_999_999_999],
    ],
    ['', '0', '-1', '1.5', '1e3', '0x10', ' 1', '1 ', 'all', '1000000000000000', '１'],
    'a whole number of 1 or more',
  ],
  'a whole number within bounds': [
    wholeNumber(-5, 5),
    [
      ['-5', -5],
      ['0', 0],
      ['5', 5],
    ],
    ['', '-6', '6', '1.0', '+1', 'x'],
    'a whole number from -5 to 5',
  ],
  'a port': [
    port,
    [
      ['0', 0],
      ['65535', 65_535],
    ],
    ['65536', '-1', 'http', ''],
    'a whole number from 0 to 65535',
  ],
  seconds: [
    seconds(1, 60),
    [
      ['1', 1],
      ['2.5', 2.5],
      ['60', 60],
    ],
    ['', '0', '0.9', '60.1', '0x10', '1e1', '.5', '5s', 'Infinity'],
    'a number of seconds from 1 to 60',
  ],
  'a duration': [
    span('3d', '0s', '30d'),
    [
      ['90s', 90_000],
      ['30m', hour / 2],
      ['2h', 2 * hour],
      ['30d', 720 * hour],
    ],
    ['', '5', 'd', '1.5h', '31d', '-1h', '2 h', '2H'],
    'a duration from 0s to 30d, such as "3d"',
  ],
  'a time': [
    time,
    [
      ['2026-12-01', Date.UTC(2026, 11, 1)],
      ['2026-12-01T09:00:00Z', Date.UTC(2026, 11, 1, 9)],
      ['2026-12-01T09:00:00+01:00', Date.UTC(2026, 11, 1, 8)],
      ['2026-12-01T09:00', Date.UTC(2026, 11, 1, 9)],
      ['2028-02-29', Date.UTC(2028, 1, 29)],
    ],
    [
      '',
      'noon',
      '1/12/2026',
      'Dec 1 2026',
      '2026',
      '2026-13-01',
      '2026-12-01T25:00:00Z',
      '2027-02-30',
      '2027-02-29T10:00Z',
      '2026-12-01 9:00 PM',
      '2026-12-01 (x)',
      '2026-12-01Z',
    ],
    'a time such as 2026-12-01 or 2026-12-01T09:00:00Z',
  ],
  'a version': [
    versionOrLatest,
    [
      ['3', 3],
      ['latest', 'latest'],
    ],
    ['', '0', 'newest', 'Latest'],
    "a whole number of 1 or more, or 'latest'",
  ],
  'several words': [
    severalOf(['ended', 'failed']),
    [
      ['failed', ['failed']],
      ['ended, failed', ['ended', 'failed']],
    ],
    ['', 'ended,', 'Failed', 'ended failed'],
    'one or more of ended, failed, with commas between them',
  ],
  'a name and its value': [
    nameAndValue,
    [
      ['a=1', ['a', '1']],
      ['a=', ['a', '']],
      ['a=b=c', ['a', 'b=c']],
    ],
    ['', 'a', '=1'],
    'name=value',
  ],
}

for (const [name, [read, good, bad, expected]] of Object.entries(readers)) {
  t.test(`${name} is read, and what is none is refused with what was expected`, async (t) => {
    for (const [text, value] of good) t.same(read(text), value, text)
    for (const text of bad) {
      t.throws(() => read(text), { message: `It must be ${expected}.` }, JSON.stringify(text))
    }
  })
}

t.test('an end is a time, or so long from now', async (t) => {
  const read = endTime('1m', '10d')
  t.equal(read('2h')(1_000), 1_000 + 2 * hour)
  t.equal(read('2027-01-31')(1_000), Date.UTC(2027, 0, 31))
  for (const text of ['', '30s', '11d', 'tomorrow', '31/01/2027']) {
    t.throws(() => read(text), { message: /a time such as .* or a duration from 1m to 10d/ }, text)
  }
})

t.test('what may be repeated is collected in its order', async (t) => {
  const read = repeated(count)
  t.same(read('2', read('1')), [1, 2])
  t.throws(() => read('x', [1]), { message: /whole number/ })
})

t.test('a row is named by digits, and what is none is unknown', async (t) => {
  const unknown = (given: string) => new Error(`no row ${given}`)
  t.equal(rowNumber('17', unknown), 17)
  for (const given of ['', 'x', '-1', '1.5', '9007199254740993']) {
    t.throws(() => rowNumber(given, unknown), { message: `no row ${given}` })
  }
})

t.test(
  'a refusal names the option and the value, has status 2, and nothing is opened',
  async (t) => {
    const { run } = await openPlace(t)
    for (const [option, ...args] of [
      ['--limit <count>', 'queue', 'list', '--limit', 'x'],
      ['--limit <count>', 'suppression', 'list', '--limit', 'x'],
      ['--limit <count>', 'webhook', 'deliveries', 'none', '--limit', 'x'],
      ['--limit <count>', 'stats', '--limit', 'x'],
      ['--expires <when>', 'key', 'create', 'ci', '--expires', 'x'],
      ['--overlap <duration>', 'webhook', 'rotate', 'none', '--overlap', 'x'],
      ['--position <number>', 'topic', 'add', 'News', '--position', 'x'],
      ['--to <delivery>', 'webhook', 'replay', 'none', '1', '--to', 'x'],
      ['--var <name=value>', 'template', 'render', 'none', '--var', 'x'],
    ] as const) {
      const { status, stdout, stderr } = await run(...args)
      t.same({ status, stdout }, { status: 2, stdout: '' }, args.join(' '))
      const said = stderr.replaceAll(/\s+/g, ' ')
      t.match(said, `error: option '${option}' argument 'x' is invalid. It must be `)
    }
  },
)
