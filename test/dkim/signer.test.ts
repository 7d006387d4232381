import { createPublicKey, verify } from 'node:crypto'
import { readdirSync } from 'node:fs'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { generateDkimKeyPair, makeDkimKey, openSigner } from '../../src/dkim/index.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'

const keyNamed = async (selector: string) => {
  const { privateKeyPem } = await generateDkimKeyPair('rsa-sha256')
  const of = { domain: 'example.test', selector, algorithm: 'rsa-sha256' as const }
  return makeDkimKey({ ...of, privateKey: privateKeyPem })
}
const [one, other] = await Promise.all([keyNamed('one'), keyNamed('other')])

const isSigned = (text: string, key: typeof one, signature: string) =>
  verify(
    'sha256',
    Buffer.from(text, 'latin1'),
    createPublicKey(key.privateKey),
    Buffer.from(signature, 'base64'),
  )

/** More than is signed without a thread. */
const burst = (signer: ReturnType<typeof openSigner>) =>
  Promise.all(Array.from({ length: 60 }, (_, i) => signer.sign(`burst ${i}`, one)))

t.test('each text gets the signature of its own key, whichever come together', async (t) => {
  const signer = openSigner(systemClock)
  t.teardown(signer.close)
  await burst(signer)
  const keys = [one, one, other, one, other, other]
  const texts = Array.from({ length: 60 }, (_, i) => `text ${i} with \xe9`)
  const keyOf = (i: number) => keys[i % keys.length] ?? one
  const signatures = await Promise.all(texts.map((text, i) => signer.sign(text, keyOf(i))))
  for (const [i, text] of texts.entries()) {
    t.ok(isSigned(text, keyOf(i), signatures[i] ?? ''), `text ${i}`)
  }
})

t.test('a key that does not sign spoils nobody else', async (t) => {
  const signer = openSigner(systemClock)
  t.teardown(signer.close)
  const { privateKeyPem } = await generateDkimKeyPair('ed25519-sha256')
  const ed25519 = { domain: 'example.test', selector: 'ed', algorithm: 'ed25519-sha256' as const }
  const { privateKey } = makeDkimKey({ ...ed25519, privateKey: privateKeyPem })
  const broken = { ...one, privateKey }
  for (const where of ['here', 'in the thread']) {
    const results = await Promise.allSettled([
      signer.sign('before', one),
      signer.sign('never', broken),
      signer.sign('after', one),
    ])
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
      where,
    )
    await burst(signer)
  }
})

t.test(
  'a few are signed without a thread; a burst starts one, and half a minute without any ends it',
  async (t) => {
    const threads = () => readdirSync('/proc/self/task').length
    const clock = new FakeClock()
    const signer = openSigner(clock)
    t.teardown(signer.close)
    const before = threads()
    for (let second = 0; second < 3; second++) {
      await Promise.all(Array.from({ length: 50 }, (_, i) => signer.sign(`text ${i}`, one)))
      await clock.advance(1_000)
    }
    t.equal(threads(), before, '50 a second')
    await burst(signer)
    t.equal(threads(), before + 1, 'more')
    await clock.advance(20_000)
    t.ok(isSigned('meanwhile', one, await signer.sign('meanwhile', one)))
    await clock.advance(10_000)
    t.equal(threads(), before + 1, 'ten seconds after the last one')
    await clock.advance(30_000)
    await eventually(async () => threads() === before, 5_000)
    t.notOk(clock.isAwaited)
    await burst(signer)
    t.ok(isSigned('again', one, await signer.sign('again', one)))
    t.equal(threads(), before + 1, 'the next burst')
  },
)

t.test('when the thread ends, what waits hears of it, and the next call works', async (t) => {
  const signer = openSigner(systemClock)
  t.teardown(signer.close)
  await burst(signer)
  const waiting = Array.from({ length: 40 }, (_, i) => signer.sign(`text ${i}`, one))
  const heard = Promise.allSettled(waiting)
  await signer.close()
  const rejected = (await heard).filter(({ status }) => status === 'rejected')
  t.ok(rejected.length > 0, 'those that were not signed')
  t.ok(isSigned('again', one, await signer.sign('again', one)))
})
