import { coversHost, parseStsPolicy, readStsId } from '../../src/outbound/tls-policy/sts-text.js'
import { fuzz } from './driver.js'

const seeds = [
  'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n',
  'version: STSv1\nmode: testing\nmx: mx1.example.com.\nmax_age: 86400\nextension: let be\n',
  'version: STSv1\r\nmode: none\r\nmax_age: 0\r\n',
  'mx: a.test\nmax_age: 31557600\nmode: enforce\nversion: STSv1',
]
const tokens = [
  '\r\n',
  '\n',
  '\r',
  ':',
  ' ',
  '\t',
  '*',
  '*.',
  '.',
  '..',
  '-',
  '_',
  '\0',
  '\xff',
  'mx: ',
  'mx: *\n',
  'mx: *.com\n',
  'mode: none\n',
  'mode: enforce\n',
  'max_age: 99999999999\n',
  'max_age: -1\n',
  'version: STSv2\n',
  'mx: a.*.test\n',
  `mx: ${'a'.repeat(300)}\n`,
  '٣',
]
const hosts = [
  'mail.example.com',
  'a.example.net',
  'a.b.example.net',
  'example.net',
  'com',
  'a.test',
]

fuzz('MTA-STS policies', 20_000, { seeds, tokens }, (input) => {
  const policy = parseStsPolicy(input)
  if ('wrong' in policy) return policy.wrong.length < 500 ? undefined : 'a long complaint'
  const { mode, mx, maxAgeS } = policy
  if (!Number.isInteger(maxAgeS) || maxAgeS < 0 || maxAgeS > 31_557_600) return `age ${maxAgeS}`
  if (mx.length > 1_000 || (mx.length === 0 && mode !== 'none')) return `${mx.length} patterns`
  // RFC 8461 §3.1: a policy that nobody can meet, or anybody can, is worse than none.
  const odd = mx.find((name) => !/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name))
  if (odd !== undefined) return `the pattern ${JSON.stringify(odd)}`
  for (const host of hosts.filter((one) => coversHost(mx, one))) {
    const parent = host.slice(host.indexOf('.') + 1)
    if (!mx.includes(host) && !mx.includes(`*.${parent}`)) return `${host} is covered by ${mx}`
  }
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx.map((name) => `mx: ${name}`)]
  const again = parseStsPolicy([...lines, `max_age: ${maxAgeS}`].join('\r\n'))
  return JSON.stringify(again) === JSON.stringify(policy) ? undefined : 'written anew it is another'
})

const records = [
  'v=STSv1; id=20160831085700Z;',
  'v=STSv1;id=1',
  'v=spf1 -all',
  'v=STSv1; id=a; x=y',
]
const parts = [
  'v=STSv1',
  ';',
  'id=',
  ' ',
  '=',
  'id=2;',
  '\t',
  '"',
  'a'.repeat(40),
  'v=STSv1; id=9;',
]

fuzz(
  'MTA-STS records',
  20_000,
  { seeds: records, tokens: parts, maxBytes: 4_000 },
  (input, random) => {
    const all = [input, ...(random(3) === 0 ? [records[random(records.length)] ?? ''] : [])]
    const id = readStsId(all)
    if (id === undefined) return undefined
    if (!/^[a-zA-Z0-9]{1,32}$/.test(id)) return `the id ${JSON.stringify(id)}`
    const good = all.filter(
      (record) => /^v=STSv1\s*(;|$)/.test(record) && record.includes(`id=${id}`),
    )
    return good.length === 1 ? undefined : `the id ${id} is in ${good.length} records`
  },
)
