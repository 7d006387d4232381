import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { generateDkimKeyPair, makeDkimKey, signMessage } from '../../src/dkim/index.js'

/** 21 November 2026: the day after that of the fixtures' reports. */
export const reportedOn = Date.UTC(2026, 10, 21, 6)

export const fixture = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/aggregates/${name}.xml`, import.meta.url))

/** The five shapes in which large receivers send their reports. */
export const shapes = {
  google: { from: 'noreply-dmarc-support@google.com', type: 'application/zip', pack: zipped },
  microsoft: { from: 'dmarcreport@microsoft.com', type: 'application/gzip', pack: gzipSync },
  yahoo: { from: 'noreply@dmarc.yahoo.com', type: 'application/gzip', pack: gzipSync },
  mailru: { from: 'dmarc_support@corp.mail.ru', type: 'application/gzip', pack: gzipSync },
  fastmail: { from: 'reports@fastmaildmarc.com', type: 'text/xml', pack: (xml: Buffer) => xml },
} as const

export function zipped(xml: Buffer): Buffer {
  return Buffer.from(zipSync({ 'report.xml': xml }))
}

/** A mail with a file, as receivers send it. */
export function mailWith(file: Buffer, { from, type }: { from: string; type: string }): Buffer {
  const lines = file.toString('base64').match(/.{1,76}/g) ?? []
  return Buffer.from(
    [
      `From: Reports <${from}>`,
      'To: dmarc@mail.posthorn.test',
      'Subject: Report domain: shop.test',
      'Date: Sat, 21 Nov 2026 05:00:00 +0000',
      `Message-ID: <${lines.length}@reporter.test>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary="=_b"',
      '',
      '--=_b',
      'Content-Type: text/plain',
      '',
      'This is an aggregate report.',
      '--=_b',
      `Content-Type: ${type}; name="report"`,
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="report"',
      '',
      ...lines,
      '--=_b--',
      '',
    ].join('\r\n'),
  )
}

export function mailOf(name: keyof typeof shapes): Buffer {
  const { pack, ...of } = shapes[name]
  return mailWith(Buffer.from(pack(fixture(name))), of)
}

/** Signs as a domain, and says what that publishes. */
export async function signerFor(domain: string) {
  const pair = await generateDkimKeyPair('rsa-sha256')
  const key = makeDkimKey({
    domain,
    selector: 's1',
    algorithm: 'rsa-sha256',
    privateKey: pair.privateKeyPem,
  })
  return {
    name: `s1._domainkey.${domain}`,
    txt: [`v=DKIM1; k=rsa; p=${pair.publicKeyBase64}`],
    sign(raw: Buffer): Buffer {
      const end = raw.indexOf('\r\n\r\n') + 2
      const header = raw.subarray(0, end)
      const body = raw.subarray(end + 2)
      const timeSeconds = Math.floor(reportedOn / 1_000)
      return Buffer.concat([signMessage({ header, body }, [key], { timeSeconds }), raw])
    },
  }
}
