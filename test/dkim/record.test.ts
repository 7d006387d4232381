import { createPrivateKey, createPublicKey } from 'node:crypto'
import t from 'tap'
import {
  dkimRecord,
  generateDkimKeyPair,
  parseDkimRecord,
  publishesDkimKey,
} from '../../src/dkim/index.js'

const rsa = { algorithm: 'rsa-sha256', publicKeyBase64: 'MIIBIjANBg+/kq==' } as const
const ed25519 = { algorithm: 'ed25519-sha256', publicKeyBase64: '11qYAYKxCrfVS/7TyWQHOg=' } as const

t.test('a key pair is made for each algorithm, and its record holds the public half', async (t) => {
  const pair = await generateDkimKeyPair('rsa-sha256')
  const privateKey = createPrivateKey(pair.privateKeyPem)
  t.equal(privateKey.asymmetricKeyDetails?.modulusLength, 2048)
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  t.equal(pair.publicKeyBase64, spki.toString('base64'))
  t.equal(
    dkimRecord({ algorithm: 'rsa-sha256', ...pair }),
    `v=DKIM1; k=rsa; p=${spki.toString('base64')}`,
  )

  const edwards = await generateDkimKeyPair('ed25519-sha256')
  const { x } = createPublicKey(edwards.privateKeyPem).export({ format: 'jwk' })
  t.equal(Buffer.from(edwards.publicKeyBase64, 'base64').toString('base64url'), x)
  t.equal(
    dkimRecord({ algorithm: 'ed25519-sha256', ...edwards }),
    `v=DKIM1; k=ed25519; p=${edwards.publicKeyBase64}`,
  )
})

t.test('records are read as RFC 6376 §3.6.1 says', async (t) => {
  const plain = { ...rsa, revoked: false, testing: false }
  const p = `p=${rsa.publicKeyBase64}`
  const cases: [txt: string, expected: object | undefined][] = [
    [dkimRecord(rsa), plain],
    [dkimRecord(ed25519), { ...plain, ...ed25519 }],
    [p, plain],
    [`v=DKIM1;${p};`, plain],
    [` v = DKIM1 ; k = rsa ; ${p} ; `, plain],
    ['v=DKIM1; p=MIIB Ij\tANBg+/\r\n kq==', plain],
    [`v=DKIM1; h=sha1:sha256; s=email; n=a note; x=unknown; ${p}`, plain],
    [`v=DKIM1; h= sha256 ; s= other : * ; ${p}`, plain],
    [`v=DKIM1; t=y:s; ${p}`, { ...plain, testing: true }],
    [`v=DKIM1; t=s; ${p}`, plain],
    ['v=DKIM1; p=', { ...plain, publicKeyBase64: '', revoked: true }],
    ['', undefined],
    ['v=DKIM1; k=rsa', undefined],
    [`v=DKIM2; ${p}`, undefined],
    [`v=dkim1; ${p}`, undefined],
    [`${p}; v=DKIM1`, undefined],
    [`v=DKIM1; k=dsa; ${p}`, undefined],
    [`v=DKIM1; h=sha1; ${p}`, undefined],
    [`v=DKIM1; s=other; ${p}`, undefined],
    [`v=DKIM1; ${p}; ${p}`, undefined],
    [`v=DKIM1; nonsense; ${p}`, undefined],
    [`v=DKIM1; =x; ${p}`, undefined],
    ['v=DKIM1; p="MIIB"', undefined],
    ['v=spf1 -all', undefined],
  ]
  for (const [txt, expected] of cases) t.same(parseDkimRecord(txt), expected, txt)
})

t.test('a published key is ours only if algorithm and key are', async (t) => {
  t.ok(publishesDkimKey(dkimRecord(rsa), rsa))
  t.ok(publishesDkimKey(dkimRecord(rsa).replace('MIIB', 'MI IB '), rsa))
  t.notOk(publishesDkimKey(dkimRecord(rsa).replace('MIIB', 'MIIC'), rsa))
  t.notOk(publishesDkimKey(dkimRecord({ ...rsa, algorithm: 'ed25519-sha256' }), rsa))
  t.notOk(publishesDkimKey('v=DKIM1; p=', rsa))
  t.notOk(publishesDkimKey('unrelated', rsa))
})
