import { OperatorError } from '../errors/index.js'
import type { Listener } from './listeners.js'

/** The TLS of a listener, by files or by ACME. */
interface TlsListener {
  enabled: boolean
  certificate: string
  key: string
}

/** The part of `[http]` that is checked here. */
interface HttpSettings {
  private: { host: string; port: number; tls: TlsListener }
  public: { host: string; port: number; url: string; tls: TlsListener & { port: number } }
}

/** The listeners of HTTP. */
export const httpListeners = ({ private: own, public: others }: HttpSettings): Listener[] => [
  { name: 'http.private', host: own.host, port: own.port },
  { name: 'http.public', host: others.host, port: others.port },
  ...(others.tls.enabled
    ? [{ name: 'http.public.tls', host: others.host, port: others.tls.port }]
    : []),
]

/** Throws an `OperatorError` for listeners that have no certificate, or no URL. */
export function checkHttp({ private: own, public: others }: HttpSettings, acme: boolean): void {
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
