import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadShaping, policyFor, shareOf, siteOf } from '../../src/outbound/shaping/index.js'
import { makeReplyPattern, occursIn, wordsOf } from '../../src/outbound/shaping/pattern.js'
import { makeTempDir } from '../support/store.js'

const shipped = 'config/shaping.toml'

/** The file that comes with Posthorn and, over it, an operator's. */
function load(t: Test, own = '') {
  const file = join(makeTempDir(t), 'shaping.toml')
  writeFileSync(file, own)
  return { file, data: loadShaping([shipped, file]) }
}

const hosts = (...names: string[]) =>
  names.map((name) => {
    const [exchange = '', preference = '10'] = name.split('=')
    return { exchange, preference: Number(preference) }
  })

function keyOf(t: Test, own: string, names: string[], domain = 'example.com') {
  return siteOf(load(t, own).data, hosts(...names), domain).key
}

t.test('the providers are those of mta.md', async (t) => {
  const data = loadShaping([shipped])
  const limitsOf = (exchange: string) => {
    const site = siteOf(data, hosts(exchange), 'example.com')
    const { connections, messagesPerConnection, tls } = policyFor(data, site)
    return [site.key, connections, messagesPerConnection, tls]
  }
  for (const [exchange, ...expected] of [
    ['aspmx.l.google.com', 'google', 5, 50, 'required'],
    ['gmr-smtp-in.l.googlemail.com', 'google', 5, 50, 'required'],
    ['hotmail-com.olc.protection.outlook.com', 'outlook', 5, 50, 'opportunistic'],
    ['acme-com.mail.protection.outlook.com', 'microsoft365', 5, 50, 'opportunistic'],
    ['acme-com.k-v1.mx.microsoft', 'microsoft365-dane', 5, 50, 'opportunistic'],
    ['mta7.am0.yahoodns.net', 'yahoo', 10, 20, 'opportunistic'],
    ['mx01.mail.icloud.com', 'apple', 10, 5, 'opportunistic'],
    ['mx2h1.comcast.net', 'comcast', 25, 1_000, 'required'],
    ['mx00.gmx.net', 'gmx', 4, 20, 'required'],
    ['mx-ha03.web.de', 'gmx', 4, 20, 'required'],
    ['smtp-in.orange.fr', 'orange', 2, 100, 'required'],
    ['mx3.qq.com', 'qq', 4, 8, 'required'],
    ['163mx01.mxmail.netease.com', 'netease', 4, 7, 'required'],
    [
      'eu-smtp-inbound-1.mimecast.com',
      'mimecast eu-smtp-inbound-#.mimecast.com',
      10,
      100,
      'opportunistic',
    ],
    ['mx.small.example', 'mx.small.example', 10, 100, 'opportunistic'],
  ] as const) {
    t.same(limitsOf(exchange), expected, exchange)
  }
  const small = policyFor(data, siteOf(data, hosts('mx.small.example'), 'small.example'))
  t.equal(small.initialConnections, 2)
  t.equal(small.messagesPerMinute, 6_000)
  t.match(small.from, { connections: 'config/shaping.toml [default]' })
})

t.test('destinations with the same best MXs are one site', async (t) => {
  for (const [names, key] of [
    [['alt1.aspmx.l.google.com=20', 'aspmx.l.google.com=10'], 'google'],
    [['aspmx.l.google.com=1', 'backup.example.net=50'], 'google'],
    [['backup.example.net=1', 'aspmx.l.google.com=50'], 'backup.example.net'],
    [['aspmx.l.google.com=1', 'mx.example.net=1'], 'aspmx.l.google.com,mx.example.net'],
    [['mx.evilgoogle.com'], 'mx.evilgoogle.com'],
    [['google.com'], 'google'],
    [['google.com.evil.example'], 'google.com.evil.example'],
    [['google'], 'google.'],
    [['mx1.example.net', 'mx2.example.net'], 'mx#.example.net'],
    [['mx2.example.net', 'mx10.example.net'], 'mx#.example.net'],
    [['b.example.net', 'a.example.net'], 'a.example.net,b.example.net'],
    // A digit in the registered name is another owner.
    [['shop1.example'], 'shop1.example'],
    [['shop1.com.ng'], 'shop1.com.ng'],
    [['mx1.shop1.com.ng'], 'mx#.shop1.com.ng'],
    [['us-smtp-inbound-2.mimecast.com'], 'mimecast us-smtp-inbound-#.mimecast.com'],
  ] as const) {
    t.equal(keyOf(t, '', [...names]), key, names.join(' '))
  }
})

t.test("an operator's file stands over the one that comes along", async (t) => {
  const { data, file } = load(
    t,
    `
[default]
messages_per_minute = 600
[providers.google]
connections = 3
[[providers.google.automation]]
name = "unusual rate"
pattern = "unusual rate"
action = "alarm"
for = "1h"
[providers.hoster]
mx = ["hoster.example"]
tls = "required"
[mx."mx.big.hoster.example"]
connections = 40
[domains."partner.example"]
messages_per_connection = 500
[domains."bücher.example"]
tls = "required"
`,
  )
  const of = (exchange: string, domain = 'x.example') => {
    const site = siteOf(data, hosts(exchange), domain)
    return { key: site.key, ...policyFor(data, site) }
  }
  const google = of('aspmx.l.google.com')
  t.match(google, {
    key: 'google',
    connections: 3,
    messagesPerConnection: 50,
    messagesPerMinute: 600,
  })
  t.match(google.from, {
    connections: `${file} [providers.google]`,
    messagesPerConnection: `${shipped} [providers.google]`,
    messagesPerMinute: `${file} [default]`,
    tls: `${shipped} [providers.google]`,
  })
  const unusual = google.automations.filter(({ name }) => name === 'unusual rate')
  t.match(unusual, [{ action: 'alarm', from: `${file} [providers.google]` }], 'replaced by name')
  t.match(of('mx.hoster.example'), { key: 'hoster', connections: 10, tls: 'required' })
  const big = of('mx.big.hoster.example')
  t.match(big, { key: 'mx mx.big.hoster.example', connections: 40, tls: 'required' })
  t.match(big.from, { connections: `${file} [mx."mx.big.hoster.example"]` })
  const partner = of('aspmx.l.google.com', 'partner.example')
  t.match(partner, {
    key: 'google for partner.example',
    connections: 3,
    messagesPerConnection: 500,
  })
  t.match(of('mx.a.example', 'xn--bcher-kva.example'), {
    key: 'mx.a.example for xn--bcher-kva.example',
    tls: 'required',
  })
})

t.test(
  'every mistake is named with its file, table, key, value and what was expected',
  async (t) => {
    const automation = (rest: string) =>
      `[[default.automation]]\nname = "a"\npattern = "b"\n${rest}`
    for (const [own, expected] of [
      [
        '[default]\nconnections = 0',
        '[default]: connections: 0 given, expected a whole number from 1 to 1000',
      ],
      [
        '[providers.google]\ntls = "always"',
        '[providers.google]: tls: "always" given, expected opportunistic or required',
      ],
      [
        '[providers.google]\nconnection = 3',
        '[providers.google]: connection: no such key; is connections meant? known: connections, messages_per_connection, messages_per_minute, tls, brake, brake_deferrals, brake_blocks, brake_complaints, brake_times, brake_wait_minutes, brake_step_minutes, mx, like, per_host, automation',
      ],
      ['[domains."a.example"]\nmx = ["b.example"]', '[domains."a.example"]: mx: no such key'],
      ['[domains."a b"]\nconnections = 3', '[domains]: "a b" given, expected a host name'],
      ['[mx."*.example"]\nconnections = 3', '[mx]: "*.example" given, expected a host name'],
      ['[providers."A b"]\nmx = ["b.example"]', '[providers]: "A b" given, expected a name of a-z'],
      ['[providers.new]\nconnections = 3', '[providers.new]: mx: nothing given, expected a list'],
      [
        '[providers.new]\nmx = ["google.com"]',
        '[providers.new]: mx: "google.com" given, expected one that is not of "google" already',
      ],
      [
        '[providers.new]\nmx = [".example"]',
        '[providers.new]: mx: [".example"] given, expected a list of host names',
      ],
      [
        '[providers.new]\nmx = ["n.example"]\nlike = "nobody"',
        '[providers.new]: like: "nobody" given',
      ],
      [
        '[providers.new]\nmx = ["n.example"]\nlike = "microsoft365"',
        'expected the name of a provider that is like no other',
      ],
      ['providers = 3', '[providers]: 3 given, expected a table'],
      ['[provider.google]', '[provider]: no such table; is [providers] meant?'],
      [
        automation('for = "1h"'),
        '[[default.automation]] "a": action: nothing given, expected slow down, fewer connections',
      ],
      [
        automation('action = "stop"\nfor = "1h"'),
        '"a": action: "stop" given, expected slow down, fewer connections',
      ],
      [automation('action = "suspend"'), '"a": for: nothing given, expected a duration'],
      [
        automation('action = "suspend"\nfor = "8d"'),
        '"a": for: "8d" given, expected a duration from 1s to 7d',
      ],
      [
        automation('action = "slow down"\nfor = "1h"'),
        '"a": messages_per_minute: nothing given, expected this or connections',
      ],
      [
        automation('action = "suspend"\nfor = "1h"\nconnections = 1'),
        '"a": only "slow down" has connections',
      ],
      [
        automation('action = "alarm"\nfor = "1h"\nthreshold = "twice"'),
        '"a": threshold: "twice" given, expected times (1 to 99) within a duration, such as "2/1h"',
      ],
      [
        automation('action = "alarm"\nfor = "1h"\nthreshold = "2/9999h"'),
        '"a": threshold: "2/9999h" given, expected a duration',
      ],
      [
        automation('action = "alarm"\nfor = "1h"\ncode = "2"'),
        '"a": code: "2" given, expected how a code begins',
      ],
      [
        `${automation('action = "none"')}\n${automation('action = "none"')}`,
        '"a": name: given twice in this table',
      ],
      [
        '[[default.automation]]\nname = "a"\npattern = " * "\naction = "none"',
        '"a": pattern: " * " given, expected text beside the *',
      ],
      [
        '[default]\nautomation = 3',
        '[default]: automation: expected tables [[default.automation]]',
      ],
    ] as const) {
      const file = join(makeTempDir(t), 'shaping.toml')
      writeFileSync(file, own)
      try {
        loadShaping([shipped, file])
        t.fail(`taken: ${own}`)
      } catch (error) {
        const { name, message } = error as Error
        t.equal(name, 'OperatorError')
        t.ok(message.startsWith(`Bad shaping (${file}):\n  `), message)
        t.ok(message.includes(expected), `${message}\nshould have: ${expected}`)
      }
    }
    t.throws(() => loadShaping(['/nowhere/shaping.toml']), { message: /Cannot read the shaping/ })
    const broken = join(makeTempDir(t), 'shaping.toml')
    writeFileSync(broken, '[default')
    t.throws(() => loadShaping([broken]), { message: `${broken} is not valid TOML` })
    writeFileSync(broken, '[default]\nconnections = 3')
    t.throws(() => loadShaping([broken]), {
      message: /\[default\]: messages_per_minute: nothing given, expected a value for all sites/,
    })
  },
)

t.test('all mistakes of a file are told at once', async (t) => {
  t.throws(() => load(t, '[default]\nconnections = 0\ntls = 3'), {
    message: /connections: 0[\s\S]*\n {2}\[default\]: tls: 3/,
  })
})

t.test('the file may be copied whole and changed', async (t) => {
  const copy = readFileSync(shipped, 'utf8').replace('connections = 25', 'connections = 26')
  const { data, file } = load(t, copy)
  const comcast = policyFor(data, siteOf(data, hosts('mx1.comcast.net'), 'comcast.net'))
  t.match(comcast, { connections: 26, from: { tls: `${file} [providers.comcast]` } })
  const names = comcast.automations.map(({ rank, name }) => `${rank} ${name}`)
  t.equal(new Set(names).size, names.length, 'no automation twice')
})

t.test('threads divide limits between them, and each keeps one connection', async (t) => {
  const data = loadShaping([shipped])
  const google = policyFor(data, siteOf(data, hosts('aspmx.l.google.com'), 'gmail.com'))
  for (const threads of [1, 2, 3, 5]) {
    const shares = Array.from({ length: threads }, (_, thread) =>
      shareOf(google, { thread, threads }),
    )
    const sum = (of: (policy: typeof google) => number) =>
      shares.reduce((total, policy) => total + of(policy), 0)
    t.equal(
      sum((policy) => policy.connections),
      google.connections,
      `${threads} threads`,
    )
    t.ok(Math.abs(sum((policy) => policy.messagesPerMinute) - google.messagesPerMinute) < 1e-6)
  }
  t.equal(shareOf(google, { thread: 7, threads: 8 }).connections, 1)
})

t.test('patterns find their parts in order, whatever the case, spaces and lines', async (t) => {
  for (const [pattern, reply, found] of [
    ['too many*connections', '421 Too many concurrent SMTP connections', true],
    ['too many*connections', '421 connections: too many', false],
    ['ab*ab', '421 ab', false],
    ['unusual rate', '421 4.7.28 Gmail has detected an unusual\n4.7.28 rate of mail', true],
    ['[TSS04]', '421 4.7.0 [tss04] Messages', true],
    ['.', '421 no dot', false],
    ['(a+)+$', `450 ${'a'.repeat(500)}`, false],
    ['deep', `450 ${'x'.repeat(1_000)} deep`, false],
  ] as const) {
    const words = wordsOf(reply) ?? ''
    t.equal(
      occursIn(makeReplyPattern(pattern) ?? [], words),
      found,
      `${pattern} in ${reply.slice(0, 60)}`,
    )
  }
  for (const ours of [
    'Connection lost at data: too many connections',
    'Given up after 3 attempts. The last one: 421 4.7.0 [TSS04]',
    '250 2.0.0 rate limit not reached',
    '',
  ]) {
    t.equal(wordsOf(ours), undefined, `not a refusal by a server: ${ours}`)
  }
})
