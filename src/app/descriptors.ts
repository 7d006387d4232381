import { readFileSync } from 'node:fs'
import type { Config } from '../config/index.js'
import { OperatorError } from '../errors/index.js'

/** How many descriptors this process may open; undefined where the system does not tell. */
export function openFilesLimit(): number | undefined {
  try {
    // Node has raised the soft limit to the hard one by then.
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

// Measured 2026-11-21: an idle process with one outbound thread has 81 open, and each further thread 9 more. The rest
// is for jobs, name servers, webhooks and files that are open for a moment.
const idle = { process: 160, thread: 10 }
// For API clients and readers of public pages: without these, connections that hang would shut them out.
const keptForHttp = 200
// Threads all load their modules at once, each as many files: one thread failed at 400, 8 threads at 900.
const toStart = { process: 256, thread: 256 }

/**
 * The settings with as many SMTP connections as `limit` descriptors allow, without those kept for HTTP, and a warning
 * when that is fewer; refuses where the descriptors do not even suffice for a start.
 */
export function fitDescriptors(
  config: Config,
  limit: number | undefined,
): { config: Config; warning?: string } {
  if (limit === undefined) return { config }
  const { outbound, inbound } = config
  const { threads } = outbound
  const least = toStart.process + threads * toStart.thread
  const advice = 'LimitNOFILE= of a systemd unit and ulimit -Hn of a shell raise it'
  if (limit < least) {
    throw new OperatorError(
      `This process may open ${limit} files; with outbound.threads = ${threads} it needs ${least} to start. ${advice}`,
    )
  }
  const own = idle.process + threads * idle.thread + keptForHttp
  const incoming = inbound.enabled ? inbound.maxConnections : 0
  const wanted = threads * outbound.maxConnections + incoming
  if (own + wanted <= limit) return { config }
  const fit = (connections: number) =>
    Math.max(1, Math.floor((connections * (limit - own)) / wanted))
  const [out, back] = [fit(outbound.maxConnections), fit(inbound.maxConnections)]
  const lowered = `outbound.max_connections is ${out}${incoming === 0 ? '' : ` and inbound.max_connections ${back}`}`
  return {
    config: {
      ...config,
      outbound: { ...outbound, maxConnections: out },
      inbound: { ...inbound, maxConnections: back },
    },
    warning: `This process may open ${limit} files and its settings need ${own + wanted}: for now ${lowered}. ${advice}`,
  }
}
