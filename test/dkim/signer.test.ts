import { createPublicKey, verify } from 'node:crypto'
import t from 'tap'
import { generateDkimKeyPair, makeDkimKey, openSigner } from '../../src/dkim/index.js'

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

t.test('each text gets the signature of its own key, whichever come together', async (t) => {
  const signer = openSigner()
  t.teardown(signer.close)
  const keys = [one, one, other, one, other, other]
  const texts = Array.from({ length: 60 }, (_, i) => `text ${i} with \xe9`)
  const keyOf = (i: number) => keys[i % keys.length] ?? one
  const signatures = await Promise.all(texts.map((text, i) => signer.sign(text, keyOf(i))))
  for (const [i, text] of texts.entries()) {
    t.ok(isSigned(text, keyOf(i), signatures[i] ?? ''), `text ${i}`)
  }
})

t.test('a key that does not sign spoils nobody else', async (t) => {
  const signer = openSigner()
  t.teardown(signer.close)
  const { privateKeyPem } = await generateDkimKeyPair('ed25519-sha256')
  const ed25519 = { domain: 'example.test', selector: 'ed', algorithm: 'ed25519-sha256' as const }
  const { privateKey } = makeDkimKey({ ...ed25519, privateKey: privateKeyPem })
  const broken = { ...one, privateKey }
  const results = await Promise.allSettled([
    signer.sign('before', one),
    signer.sign('never', broken),
    signer.sign('after', one),
  ])
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

t.test('when the thread ends, what waits hears of it, and the next call works', async (t) => {
  const signer = openSigner()
  t.teardown(signer.close)
  await signer.sign('first', one)
  const waiting = Array.from({ length: 40 }, (_, i) => signer.sign(`text ${i}`, one))
  const heard = Promise.allSettled(waiting)
  await signer.close()
  const rejected = (await heard).filter(({ status }) => status === 'rejected')
  t.ok(rejected.length > 0, 'those that were not signed')
  t.ok(isSigned('again', one, await signer.sign('again', one)))
})
