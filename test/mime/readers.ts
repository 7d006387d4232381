import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import PostalMime from 'postal-mime'

/** A part of a mail as a reader of mail understands it; the body's own parts are not among them. */
export interface ReadPart {
  filename: string
  type: string
  contentId: string
  disposition: string
  sha256: string
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The attachments as postal-mime reads them. */
export async function postalParts(raw: Buffer): Promise<ReadPart[]> {
  const { attachments } = await PostalMime.parse(raw)
  return attachments.map(({ filename, mimeType, contentId, disposition, content }) => ({
    filename: filename ?? '',
    type: mimeType,
    contentId: contentId ?? '',
    disposition: disposition ?? '',
    sha256: sha256(typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)),
  }))
}

const script = `
import base64, email, email.policy, hashlib, json, sys
for line in sys.stdin:
    raw = base64.b64decode(line)
    out = []
    for part in email.message_from_bytes(raw, policy=email.policy.default).walk():
        if part.get_content_disposition() is None or part.is_multipart(): continue
        out.append({
            'filename': part.get_filename() or '',
            'type': part.get_content_type(),
            'contentId': part.get('Content-Id', ''),
            'disposition': part.get_content_disposition(),
            'sha256': hashlib.sha256(part.get_payload(decode=True)).hexdigest(),
            'defects': [str(d) for d in part.defects],
        })
    print(json.dumps(out))
`

/** The same of many mails as Python's email package reads them; its complaints are thrown. */
export function pythonParts(mails: readonly Buffer[]): ReadPart[][] {
  const input = mails.map((raw) => raw.toString('base64')).join('\n')
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script], {
    input,
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`python3: ${stderr}`)
  return String(stdout)
    .trim()
    .split('\n')
    .map((line) => {
      const parts = JSON.parse(line) as (ReadPart & { defects: string[] })[]
      return parts.map(({ defects, ...part }) => {
        if (defects.length > 0) throw new Error(`${part.filename}: ${defects.join(', ')}`)
        return part
      })
    })
}
