import type { Test } from 'tap'
import type { TakeOuts } from '../../src/automations/index.js'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import type { BulkTasks, ImportTasks } from '../../src/contacts/index.js'
import { dashboardRoutes } from '../../src/dashboard/routes.js'
import { ownMemory } from '../../src/dashboard/shell/node-memory.js'
import type { Resolver } from '../../src/dns/index.js'
import type { Erasures } from '../../src/erasure/index.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeDocument } from '../../src/openapi/index.js'
import { makePeople } from '../../src/people/index.js'
import type { Store } from '../../src/store/index.js'
import { type StartedSandbox, startSandbox } from '../sandbox/start.js'
import { asRead } from '../support/as-read.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { quietOperator } from './operator-deps.js'

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
  options: { sandbox?: boolean; resolver?: Resolver; allow?: string[] } = {},
): Promise<StartedDashboard> {
  const store = await openTestStore(t)
  const sandbox = await startSandbox(t, { store })
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: systemClock,
  })
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const { outbound } = loadConfig({ env: {} })
  dashboardRoutes(server.pages, {
    store,
    key,
    memory: ownMemory(),
    outbound,
    clock: systemClock,
    plans: loadPlans('config/plans.toml'),
    records: outbound,
    webhookTargets: options.allow ?? [],
    tryWebhook: async () => {
      throw new Error('Nothing is tried here')
    },
    contacts: {
      defaultCountry: 'NG',
      askFirst: async (_account, { given }) => ({ id: 'none', email: given.email }),
      startRun: async () => ({ id: 'none', name: 'None' }),
    },
    hostNames: [],
    tracking: { opens: true, clicks: true },
    openResolver: () => options.resolver ?? fakeResolver(),
    backupDir: '',
    publicUrl: 'http://public.test',
    sampleCentre: async () => undefined,
    sampleForm: async () => undefined,
    imports: undefined as unknown as ImportTasks,
    bulk: undefined as unknown as BulkTasks,
    erasures: undefined as unknown as Erasures,
    takeOuts: undefined as unknown as TakeOuts,
    document: async () => makeDocument([], '0.0.0', []),
    plainHttp: false,
    sendNotice: async () => false,
    people: makePeople({
      store,
      clock: systemClock,
      key,
      asksFactorOfOperators: false,
    }),
    sandbox: options.sandbox ?? true,
    operator: quietOperator(store),
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
      return {
        status: response.status,
        headers: response.headers,
        text: asRead(await response.text()),
      }
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
