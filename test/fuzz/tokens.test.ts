import { makeApplianceKey } from '../../src/config/index.js'
import { makeReturnPaths } from '../../src/deliveries/index.js'
import { makePreferenceLinks, makeUnsubscribeLinks } from '../../src/preferences/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { fuzz, mutant, pick, type Random } from './driver.js'

const key = makeApplianceKey(Buffer.alloc(32, 5))
const tracking = makeTrackingTokens(key)
const unsubscribe = makeUnsubscribeLinks(key, '')
const preferences = makePreferenceLinks(key, '')
const returnPaths = makeReturnPaths(key)

interface Kind {
  make(random: Random): { token: string; content: unknown }
  read(token: string): unknown
  /** Two spellings of one token. */
  same?(a: string, b: string): boolean
}

const uuid = (random: Random) =>
  '00000000-0000-7000-8000-000000000000'.replaceAll('0', () => random(16).toString(16))
const serial = (random: Random) => random(2 ** 31) * 2 ** 21 + random(2 ** 21)
const address = (random: Random) =>
  pick(random, ['a@b.test', 'zoë@müller.example', `${'x'.repeat(60)}@${'y'.repeat(60)}.test`])
const lastPart = (url: string) => url.slice(url.lastIndexOf('/') + 1)
const copy = (random: Random) => ({
  accountId: uuid(random),
  emailId: uuid(random),
  deliveryId: serial(random),
})
const recipient = (random: Random) => ({
  accountId: uuid(random),
  address: address(random),
  ...(random(2) === 0 ? {} : { emailId: uuid(random) }),
})

const kinds: Record<string, Kind> = {
  open: {
    make(random) {
      const content = copy(random)
      return { token: tracking.open(content), content }
    },
    read: tracking.readOpen,
  },
  click: {
    make(random) {
      const target = `https://shop.test/${'p'.repeat(random(300))}?a=${random(9)}`
      const content = { ...copy(random), links: random(256), target }
      return { token: tracking.click(content), content }
    },
    read: tracking.readClick,
  },
  unsubscribe: {
    make(random) {
      const topic = random(2) === 0 ? {} : { topicId: uuid(random) }
      const content = { ...recipient(random), ...topic }
      return { token: lastPart(unsubscribe.url(content)), content }
    },
    read: unsubscribe.read,
  },
  preferences: {
    make(random) {
      const content = recipient(random)
      return { token: lastPart(preferences.url(content)), content }
    },
    read: preferences.read,
  },
  'return path': {
    make(random) {
      const content = serial(random)
      const host = pick(random, ['bounce.example.com', 'b.test'])
      return { token: returnPaths.addressOf(content, host), content }
    },
    read: returnPaths.deliveryOf,
    // Relays fold case.
    same: (a, b) => a.toLowerCase() === b.toLowerCase(),
  },
}

const identical = (a: string, b: string) => a === b
const sorted = (value: unknown) =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null
      ? Object.fromEntries(Object.entries(inner).sort())
      : inner,
  )
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_='

for (const [name, { make, read, same = identical }] of Object.entries(kinds)) {
  fuzz(`tokens, ${name}`, 600, { seeds: [''], tokens: [''] }, (_, random) => {
    const { token, content } = make(random)
    if (sorted(read(token)) !== sorted(content)) return `it is read as ${sorted(read(token))}`
    for (const [other, kind] of Object.entries(kinds)) {
      if (other !== name && kind.read(token) !== undefined) return `it is good as ${other}`
    }
    const seeds = [token, make(random).token]
    const forged = (made: string) =>
      !seeds.some((seed) => same(made, seed)) && read(made) !== undefined
    // Each place once: no byte of it may be another.
    for (let at = 0; at < token.length; at++) {
      const made = token.slice(0, at) + letters[random(letters.length)] + token.slice(at + 1)
      if (forged(made)) return `${made} is taken for ${token}`
    }
    const corpus = { seeds, tokens: ['=', '.', '+', '/', '@', '\n', 'A'] }
    for (let i = 0; i < 20; i++) {
      const made = mutant(corpus, random)
      if (forged(made)) return `${made} is taken`
    }
    return undefined
  })
}
