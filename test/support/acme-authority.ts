import { createPublicKey, type JsonWebKey, verify, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const subjectAltName = '2.5.29.17'
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

export interface Life {
  beganAt: number
  endsAt: number
}

/** An authority that signs what requests for certificates ask for; the test sets the life. */
export async function testAuthority() {
  const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const keys = await newKeys()
  const root = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=ACME test authority',
    notBefore: new Date(0),
    notAfter: new Date('2100-01-01'),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  })
  let serial = 0
  return {
    /** PEM. */
    root: root.toString('pem'),
    /** The names of a request, as DER in base64url; undefined when its key did not sign it. */
    async namesOf(csr: string): Promise<string[] | undefined> {
      const request = new Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'))
      if (!(await request.verify())) return undefined
      const found = request.getExtension(subjectAltName)
      if (found === null) return []
      return new SubjectAlternativeNameExtension(found.rawData).names.items.map(
        ({ value }) => value,
      )
    },
    /** A chain of PEM for the key of the request, or for another one. */
    async issue(
      csr: string,
      { names, life, isForOther }: { names: string[]; life: Life; isForOther: boolean },
    ): Promise<string> {
      const request = new Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'))
      const publicKey = isForOther ? (await newKeys()).publicKey : await request.publicKey.export()
      // The first byte is above 127, so that DER puts a zero before it.
      const serialNumber = `f0${(++serial).toString(16).padStart(16, '0')}`
      const leaf = await X509CertificateGenerator.create({
        serialNumber,
        issuer: root.subject,
        subject: '',
        notBefore: new Date(life.beganAt),
        notAfter: new Date(life.endsAt),
        signingAlgorithm: algorithm,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
          await AuthorityKeyIdentifierExtension.create(root.publicKey),
        ],
      })
      return `${leaf.toString('pem')}\n${root.toString('pem')}\n`
    },
  }
}

/** RFC 7515 §5.2: the content of a request, once its signature has been verified. */
export function readJws(
  text: string,
  keyOf: (header: JwsHeader) => JsonWebKey | undefined,
): { header: JwsHeader; payload: unknown; jwk: JsonWebKey } | undefined {
  const jws = JSON.parse(text) as Record<'protected' | 'payload' | 'signature', string>
  const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as JwsHeader
  const jwk = keyOf(header)
  if (jwk === undefined || header.alg !== 'ES256') return undefined
  const isGood = verify(
    'sha256',
    Buffer.from(`${jws.protected}.${jws.payload}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(jws.signature, 'base64url'),
  )
  const payload = Buffer.from(jws.payload, 'base64url').toString()
  // RFC 8555 §6.3: an empty payload is a POST-as-GET.
  return isGood ? { header, payload: payload && JSON.parse(payload), jwk } : undefined
}

export interface JwsHeader {
  alg: string
  nonce: string
  url: string
  kid?: string
  jwk?: JsonWebKey
}
