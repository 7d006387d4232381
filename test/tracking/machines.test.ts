import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeApplianceKey, packageFile } from '../../src/config/index.js'
import { OperatorError } from '../../src/errors/index.js'
import { makeAllowance } from '../../src/tracking/allowance.js'
import { loadTrackingAgents, makeTrackingTokens } from '../../src/tracking/index.js'
import { makeMachineAsking } from '../../src/tracking/machines.js'
import { machineVisit, makeVisits } from '../../src/tracking/visits.js'
import { makeTempDir } from '../support/store.js'

const tokens = makeTrackingTokens(makeApplianceKey(Buffer.alloc(32, 7)))
const copy = {
  accountId: '019a9b10-1111-7000-8000-00000000abcd',
  emailId: '019a9b10-2222-7000-8000-00000000ef01',
  deliveryId: Number.MAX_SAFE_INTEGER - 2,
}
const click = { ...copy, links: 3, target: 'https://x.test/a?b=1&c=2#d' }

t.test('a token says what it was signed for, and is the same each time', async (t) => {
  const [open, clicked] = [tokens.open(copy), tokens.click(click)]
  t.match(open + clicked, /^[A-Za-z0-9_-]+$/)
  t.same(tokens.readOpen(open), copy)
  t.same(tokens.readClick(clicked), click)
  t.equal(tokens.open(copy), open)
  t.equal(tokens.readOpen(clicked), undefined, 'a click is no open')
  t.equal(tokens.readClick(open), undefined)
  for (const deliveryId of [0, 1, 2 ** 32, 2 ** 48 - 1, 2 ** 48, 2 ** 52]) {
    t.equal(tokens.readOpen(tokens.open({ ...copy, deliveryId }))?.deliveryId, deliveryId)
  }
  t.equal(tokens.readClick(tokens.click({ ...click, links: 1_000 }))?.links, 255)
  const longest = { ...click, target: `https://x.test/${'a'.repeat(1_385)}` }
  t.ok(tokens.click(longest).length <= 2_048, 'the longest target fits')
  t.same(tokens.readClick(tokens.click(longest)), longest)
})

t.test('a token that was altered anywhere leads nowhere', async (t) => {
  const token = tokens.click(click)
  let wrong = 0
  for (let at = 0; at < token.length; at++) {
    for (const other of ['A', 'B', '_', '-', '=', '.', ' ', '\n', 'é']) {
      if (token[at] === other) continue
      const altered = [
        token.slice(0, at) + other + token.slice(at + 1),
        token.slice(0, at) + other + token.slice(at),
        token.slice(0, at),
      ]
      wrong += altered.filter((text) => tokens.readClick(text) !== undefined).length
      wrong += altered.filter((text) => tokens.readOpen(text) !== undefined).length
    }
  }
  t.equal(wrong, 0)
  for (const text of ['', token + token, `${token}=`, token.toLowerCase(), 'A'.repeat(100_000)]) {
    t.equal(tokens.readClick(text), undefined, text.slice(0, 20))
  }
  const others = makeTrackingTokens(makeApplianceKey(Buffer.alloc(32, 8)))
  t.equal(others.readClick(token), undefined, 'of another appliance')
  for (const target of ['javascript:alert(1)', 'https://x.test/\r\nA: b', 'data:text/html,x', '']) {
    t.equal(tokens.readClick(tokens.click({ ...click, target })), undefined, 'even if it is signed')
  }
})

const machineAsking = makeMachineAsking(
  loadTrackingAgents([packageFile('config/tracking-agents.toml')]),
)
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

t.test('machines are known by their agent and their network', async (t) => {
  for (const [userAgent, address, name] of [
    [chrome, '203.0.113.9', undefined],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
      '2001:db8::1',
      undefined,
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0',
      '203.0.113.9',
      undefined,
    ],
    [
      'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
      '66.249.84.1',
      undefined,
    ],
    [
      'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
      '203.0.113.9',
      undefined,
    ],
    [
      'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)',
      '203.0.113.9',
      undefined,
    ],
    ['curl/7.88.1', '127.0.0.1', undefined],
    ['Mozilla/5.0', '203.0.113.9', 'Apple Mail Privacy Protection'],
    ['', '203.0.113.9', 'no User-Agent'],
    [
      chrome.replace('142.0.0.0', '42.0.2311.135').concat(' Edge/12.246 Mozilla/5.0'),
      '66.249.84.1',
      'Gmail prefetch',
    ],
    [
      'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      '66.249.66.1',
      'robot',
    ],
    [chrome.replace('Chrome/', 'HeadlessChrome/'), '203.0.113.9', 'robot'],
    ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', '203.0.113.9', 'preview'],
    ['WhatsApp/2.23.20.0', '203.0.113.9', 'preview'],
    ['python-requests/2.32.3', '203.0.113.9', 'program'],
    ['Go-http-client/1.1', '203.0.113.9', 'program'],
    ['Proofpoint URL Defense', '203.0.113.9', 'mail filter'],
    [chrome, '209.222.82.4', 'Barracuda'],
    [chrome, '40.94.1.2', 'Microsoft Defender'],
    [chrome, '40.95.1.2', undefined],
    [chrome, 'nonsense', undefined],
  ] as const) {
    const asked = { userAgent, address }
    t.equal(machineAsking({ ...asked, kind: 'opened' }), name, userAgent)
    t.equal(machineAsking({ ...asked, kind: 'clicked' }), name)
  }
})

t.test("an operator's file stands over ours, and says what is wrong with it", async (t) => {
  const file = join(makeTempDir(t), 'tracking-agents.toml')
  const load = (toml: string) => {
    writeFileSync(file, toml)
    return loadTrackingAgents([packageFile('config/tracking-agents.toml'), file])
  }
  const own = makeMachineAsking(
    load(
      '[[agents]]\nname = "robot"\nis = ["Never"]\n[[networks]]\nname = "office"\nof = ["clicked"]\nranges = ["10.0.0.0/8", "fd00::/8"]\n',
    ),
  )
  const asked = { userAgent: 'Googlebot/2.1', address: '10.1.2.3' }
  t.equal(own({ ...asked, kind: 'clicked' }), 'office')
  t.equal(own({ ...asked, kind: 'opened' }), undefined, 'the rule of that name is gone')
  t.equal(own({ userAgent: chrome, address: 'fd00::1', kind: 'clicked' }), 'office')
  for (const [toml, problem] of [
    ['[[agents]]\nname = "x"\n', /\[\[agents]] "x": contains: nothing given/],
    ['[[agents]]\ncontains = ["x"]\n', /\[\[agents]] 1: name: nothing given, expected a text/],
    ['[[agents]]\nname = "x"\ncontains = [""]\n', /expected a list of texts that are not empty/],
    ['[[agents]]\nname = "x"\nis = "y"\n', /is: "y" given, expected a list of texts/],
    ['[[agents]]\nname = "x"\nis = ["y"]\nof = ["read"]\n', /of: \["read"\] given/],
    ['[[agents]]\nname = "x"\nis = ["y"]\nwhy = 1\n', /"x": why: no such key; known: name, of/],
    ['[[networks]]\nname = "x"\nranges = ["10.0.0.0"]\n', /expected a list of networks/],
    ['[[networks]]\nname = "x"\nranges = ["10.0.0.0/33"]\n', /expected a list of networks/],
    ['networks = 1\n', /expected tables \[\[networks]]/],
    ['[agent]\n', /\[agent]: no such table; is \[agents] meant\?/],
    ['[[agents\n', /is not valid TOML/],
  ] as const) {
    t.throws(() => load(toml), problem, toml)
  }
  t.throws(() => loadTrackingAgents([join(file, 'nowhere')]), OperatorError)
})

/** A visit of these clicks, by their targets. */
function visitOf(links: number, targets: readonly string[], at = 10_000) {
  const visits = makeVisits()
  for (const target of targets) {
    visits.note({ ...copy, links }, { kind: 'clicked', at, target, userAgent: chrome })
  }
  const [visit] = visits.take(at)
  if (visit === undefined) throw new Error('There is a visit')
  return visit
}

t.test('what comes too soon, or takes all links at once, is a machine', async (t) => {
  const [a, b, c, d] = [
    'https://x.test/a',
    'https://x.test/b',
    'https://x.test/c',
    'https://x.test/d',
  ]
  for (const [what, visit, arrivedAt, machine] of [
    ['while the first attempt is under way', visitOf(5, [a]), null, true],
    ['before the delivery is settled', visitOf(5, [a]), 10_001, true],
    ['at once', visitOf(5, [a]), 10_000, true],
    ['within the window', visitOf(5, [a]), 7_001, true],
    ['at its end', visitOf(5, [a]), 7_000, false],
    ['both of two links', visitOf(2, [a, b]), 0, true],
    ['the same link twice', visitOf(2, [a, a]), 0, false],
    ['the only link, again and again', visitOf(1, [a, a, a]), 0, false],
    ['two of three', visitOf(3, [a, b]), 0, false],
    ['three of three', visitOf(3, [a, b, c]), 0, true],
    ['three of many', visitOf(255, [a, b, c]), 0, false],
    ['four of many', visitOf(255, [a, b, c, d]), 0, true],
  ] as const) {
    const { opened, clicked } = machineVisit(visit, { at: arrivedAt }, 3_000)
    t.equal(clicked !== undefined, machine, what)
    t.equal(opened !== undefined, arrivedAt === null || arrivedAt > 7_000, `${what}: opens`)
  }
  t.same(machineVisit(visitOf(5, [a]), { at: null }, 0), {}, 'the time can be left out of it')
})

t.test('a flood takes the room of one visit, and an event a minute', async (t) => {
  const visits = makeVisits(2)
  const hit = { kind: 'opened', at: 0, userAgent: chrome } as const
  for (let i = 0; i < 10_000; i++) visits.note(copy, { ...hit, ...(i % 2 ? { machine: 'x' } : {}) })
  t.equal(visits.size, 1)
  t.ok(visits.note({ ...copy, deliveryId: 1 }, { ...hit, at: 5 }))
  t.notOk(visits.note({ ...copy, deliveryId: 2 }, hit), 'no room for a third')
  t.ok(visits.note(copy, hit), 'but for what is known')
  const [visit, ...more] = visits.take(4)
  t.same(more, [])
  t.match(
    visit,
    { opened: { people: { count: 5_001 }, machines: { count: 5_000 } } },
    'all are counted',
  )
  t.ok((visit?.opened.machines.hits.length ?? 99) <= 20)
  t.equal(visits.size, 1, 'the later one goes on')

  const allowance = makeAllowance(2)
  const of = { deliveryId: 1, kind: 'opened', machine: false } as const
  t.equal(allowance.take(of, 20, 0), 20)
  t.equal(allowance.take(of, 20, 1_000), 10)
  t.equal(allowance.take(of, 20, 2_000), 0)
  t.equal(allowance.take({ ...of, machine: true }, 3, 2_000), 3, "machines' are apart")
  t.equal(allowance.take(of, 20, 61_000), 1)
  t.equal(allowance.take(of, 20, 62_000), 0)
  t.equal(allowance.take(of, 0, 200_000), 0)
  t.equal(allowance.take(of, 20, 3_600_000), 20, 'in another hour')
  t.equal(allowance.take(of, 20, 0), 20, 'nor does a clock that was set back shut it')
})
