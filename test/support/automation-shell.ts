import type { Test } from 'tap'
import { acceptEvents, makeTakeOuts } from '../../src/automations/index.js'
import { automationEditPages } from '../../src/dashboard/automation-edit/routes.js'
import { automationPages } from '../../src/dashboard/automations/routes.js'
import { ownMemory } from '../../src/dashboard/shell/node-memory.js'
import { makeRenderedPages } from '../../src/dashboard/templates/rendered.js'
import { silentLog } from '../../src/log/index.js'
import { startShell } from '../dashboard/shell/start.js'
import { openEngine, passing } from './automation-rig.js'

/** The engine and the pages of automations, over one store and one test clock, used by an owner. */
export async function openAutomationShell(t: Test) {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const deps = {
    ...rig.deps,
    ...rig.accepting,
    maxQueued: Number.MAX_SAFE_INTEGER,
    tracking: undefined,
    takeOuts: makeTakeOuts({ store, clock, log: silentLog }),
  }
  const shell = await startShell(
    t,
    ({ account }) => {
      automationPages(account, deps)
      const editing = { publicUrl: 'https://mail.example' }
      automationEditPages(account, {
        ...deps,
        ...editing,
        rendered: makeRenderedPages(ownMemory(), 'mail'),
      })
    },
    { clock, accountId },
  )
  const base = `/a/${accountId}/automations`
  return {
    ...rig,
    base,
    page: async (path: string): Promise<string> => {
      const { status, text } = await shell.get(base + path, 'owner')
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
      return text.replace(/<wbr>/g, '')
    },
    press: async (path: string, fields: Record<string, string> = {}): Promise<void> => {
      const body = new URLSearchParams(fields).toString()
      const got = await passing(clock, shell.post(base + path, body))
      if (got.status !== 303) throw new Error(`${path}: ${got.status} ${got.text}`)
    },
    /** Adds so many people, each with a `signup`. */
    begin: async (people: number): Promise<void> => {
      const billing = await rig.billing()
      for (let from = 0; from < people; from += 100) {
        const some = Array.from({ length: Math.min(100, people - from) }, (_, n) => from + n)
        const events = some.map((n) => ({ event: 'signup', email: `p${n}@example.com` }))
        await acceptEvents(rig.accepting, billing, events)
      }
    },
    /** Runs what is due, however many mails that makes. */
    work: () => rig.work({ maxQueued: Number.MAX_SAFE_INTEGER }),
  }
}
