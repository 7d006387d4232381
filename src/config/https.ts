import { OperatorError } from '../errors/index.js'

/** The TLS of a listener, by files or by ACME. */
interface TlsListener {
  enabled: boolean
  certificate: string
  key: string
}

/** What is checked here of `[http]`. */
interface HttpSettings {
  private: { host: string; port: number; tls: TlsListener }
  public: { host: string; port: number; url: string; tls: TlsListener & { port: number } }
}

/** Throws an `OperatorError` for listeners that do not go together, or have no certificate. */
export function checkHttp({ private: own, public: others }: HttpSettings, acme: boolean): void {
  const listeners = [
    { name: 'http.private', ...own, isOn: true },
    { name: 'http.public', ...others, isOn: true },
    { name: 'http.public.tls', host: others.host, port: others.tls.port, isOn: others.tls.enabled },
    // Port 0 is a free one and never clashes.
  ].filter(({ isOn, port }) => isOn && port !== 0)
  for (const [index, one] of listeners.entries()) {
    const other = listeners
      .slice(index + 1)
      .find(({ host, port }) => host === one.host && port === one.port)
    if (other === undefined) continue
    throw new OperatorError(
      `${one.name} and ${other.name} are both ${one.host} port ${one.port}: one needs another port`,
    )
  }
  checkPair('http.private.tls', own.tls, acme)
  checkPair('http.public.tls', others.tls, acme)
  if (others.tls.enabled && !others.url.startsWith('https:')) {
    throw new OperatorError(
      'http.public.tls.enabled needs http.public.url, the address that recipients\' links begin with, such as "https://mail.example.com"',
    )
  }
}

/** A certificate without its key is of no use, and the other way round. */
function checkPair(name: string, { enabled, certificate, key }: TlsListener, acme: boolean): void {
  if ((certificate === '') !== (key === '')) {
    throw new OperatorError(`${name} needs both files, certificate and key`)
  }
  if (enabled && certificate === '' && !acme) {
    throw new OperatorError(
      `${name}.enabled needs a certificate: set ${name}.certificate and ${name}.key, or tls.acme, which gets one`,
    )
  }
}
