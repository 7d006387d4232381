import { generateDkimKeyPair, makeDkimKey, signMessage } from '../../src/dkim/index.js'
import type { StaticHost } from '../../src/dns/index.js'

const selector = 'fbl'

/** A feedback loop that signs: its key's record, and the message that it makes from another. */
export async function openLoop(domain: string) {
  const { privateKeyPem, publicKeyBase64 } = await generateDkimKeyPair('rsa-sha256')
  const key = makeDkimKey({ domain, selector, algorithm: 'rsa-sha256', privateKey: privateKeyPem })
  const name = `${selector}._domainkey.${domain}`
  const records: Record<string, StaticHost> = {
    [name]: { txt: [`v=DKIM1; k=rsa; p=${publicKeyBase64}`] },
  }
  return {
    name,
    records,
    privateKeyPem,
    /** The message with its only From replaced and a signature before it. */
    sign(message: string, from = `Loop <feedback@${domain}>`): string {
      const written = message.replace(/^From: .*$/m, `From: ${from}`)
      const end = written.indexOf('\r\n\r\n')
      const header = Buffer.from(written.slice(0, end + 2))
      const body = Buffer.from(written.slice(end + 4))
      const timeSeconds = Math.floor(Date.now() / 1_000)
      return `${signMessage({ header, body }, [key], { timeSeconds })}${written}`
    },
  }
}
