import { isReachable, runtimeInUse } from '../config/index.js'
import type { Ground } from './ground.js'
import type { Work } from './work.js'

/** Says where the appliance can be reached: in the log, in `posthorn status`, and to whoever has started it. */
export function tellWhere(
  { config, log }: Ground,
  { publicUrl, publicPort }: { publicUrl: string; publicPort: number },
  { crew, overview }: Work,
  privateServer: { readonly port: number },
) {
  const { inboundPort, submissionPorts, httpsPorts, sandboxPort } = crew
  const { host, tls } = config.http.private
  // With TLS, or behind proxies, it listens on a socket, and has no port of its own.
  const privateUrl =
    httpsPorts.private === undefined
      ? urlOf(host, privateServer.port)
      : urlOf(host, httpsPorts.private, tls.enabled ? 'https' : 'http')
  const smtp = Object.entries({ inbound: inboundPort, ...submissionPorts })
  overview.listensAt([
    { name: 'API', at: privateUrl },
    { name: 'public', at: publicUrl },
    ...smtp.flatMap(([name, port]) => (port === undefined ? [] : [{ name, at: `port ${port}` }])),
  ])
  const { route } = config.outbound
  const { name: runtime } = runtimeInUse()
  log.info(
    { privateUrl, publicUrl, route, sandboxSmtpPort: sandboxPort, runtime },
    'Posthorn is up',
  )
  if (!isReachable(config)) {
    log.warn(
      { publicUrl },
      'http.public.url is not set: links in marketing mail lead nowhere, and opens and clicks are not tracked',
    )
  }
  return {
    privateUrl,
    publicUrl,
    publicPort: httpsPorts.publicPlain ?? publicPort,
    submissionPorts,
    httpsPorts,
    ...(sandboxPort === undefined ? {} : { sandboxSmtpPort: sandboxPort }),
    ...(inboundPort === undefined ? {} : { inboundSmtpPort: inboundPort }),
  }
}

export const urlOf = (host: string, port: number, scheme = 'http') =>
  `${scheme}://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
