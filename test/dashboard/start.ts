import type { Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { dashboardRoutes } from '../../src/dashboard/routes.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Store } from '../../src/store/index.js'
import { type StartedSandbox, startSandbox } from '../sandbox/start.js'
import { openTestStore } from '../support/store.js'

export interface StartedDashboard {
  store: Store
  sandbox: StartedSandbox
  url: string
  get(path: string): Promise<Got>
  /** Gives a mail in over SMTP, waits for its checks, and resolves with its id. */
  receive(raw: string | Buffer, recipients?: string[]): Promise<number>
}

export interface Got {
  status: number
  headers: Headers
  text: string
}

/** The pages over real HTTP, beside a real receiver on the same database. */
export async function startDashboard(
  t: Test,
  options: { sandbox?: boolean } = {},
): Promise<StartedDashboard> {
  const store = await openTestStore(t)
  const sandbox = await startSandbox(t, { store })
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: systemClock,
  })
  dashboardRoutes(server.pages, {
    store,
    clock: systemClock,
    backupDir: '',
    sandbox: options.sandbox ?? true,
  })
  await server.listen()
  t.teardown(() => server.close(0))
  const url = `http://127.0.0.1:${server.port}`
  let received = 0
  return {
    store,
    sandbox,
    url,
    async get(path) {
      const response = await fetch(url + path, { redirect: 'manual' })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    async receive(raw, recipients) {
      await sandbox.send(raw, recipients)
      received++
      const [newest] = await sandbox.checked(received)
      return newest?.id ?? 0
    },
  }
}

/** A mail with both parts; `html` and `text` are put in as they are. */
export function mail(parts: {
  from?: string
  to?: string
  subject?: string
  html?: string
  text?: string
  more?: string
}): string {
  const { from = 'Zoe <zoe@example.test>', to = 'Ada <ada@example.com>' } = parts
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${parts.subject ?? 'Hello'}`,
    ...(parts.more ? [parts.more] : []),
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    parts.text ?? 'Plain words.',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    parts.html ?? '<p>Rich words.</p>',
    '--b--',
    '',
  ].join('\r\n')
}
