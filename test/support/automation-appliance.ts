import type { Test } from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { findMessage, listMessages } from '../../src/sandbox/index.js'
import { openRenderer, putTemplate } from '../../src/templates/index.js'
import { type PosthornOptions, startPosthorn } from './posthorn.js'

const patienceMs = 20_000
const lookMs = 10

/** Steps one after another, or a whole graph. */
export type Steps = readonly object[]

/** An appliance with a marketing plan, whose mail comes to its sandbox, for journeys over HTTP. */
export async function openAutomations(t: Test, options: PosthornOptions = {}) {
  const posthorn = await startPosthorn(t, options)
  const { store, accountId } = posthorn
  const plans = loadPlans(packageFile('config/plans.toml'))
  const pro = plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, pro))
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  t.teardown(() => renderer.close())
  const clock = options.clock ?? systemClock

  const call = async (method: string, path: string, body?: object) =>
    await posthorn.call(method, path, body === undefined ? {} : { body })
  const until = async <T>(what: string, find: () => Promise<T | undefined>): Promise<T> => {
    for (let waited = 0; waited < patienceMs; waited += lookMs) {
      const found = await find()
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
    throw new Error(`Waited in vain: ${what}`)
  }
  const run = async (id: string) => (await call('GET', `/v1/automations/runs/${id}`)).json
  return {
    posthorn,
    store,
    accountId,
    plans,
    call,
    until,
    run,
    template: (slug: string, draft: { subject?: string; html?: string; textBody?: string } = {}) =>
      putTemplate({ store, clock, renderer }, accountId, {
        slug,
        subject: 'Hello',
        html: '<p>Hello</p>',
        ...draft,
      }),
    /** Makes an automation; `connections` by default from each step to the next. */
    create: async (
      name: string,
      steps: Steps,
      more: { connections?: object[]; settings?: object } = {},
    ): Promise<string> => {
      const connections = more.connections ?? inARow(steps)
      const { status, json } = await call('POST', '/v1/automations', {
        name,
        steps,
        connections,
        ...(more.settings === undefined ? {} : { settings: more.settings }),
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`)
      return json.id
    },
    async enabled(
      name: string,
      steps: Steps,
      more: { connections?: object[]; settings?: object } = {},
    ) {
      const id = await this.create(name, steps, more)
      const { status, json } = await call('POST', `/v1/automations/${id}/enable`)
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`)
      return id
    },
    /** Sends an event that must be accepted; resolves with the answer. */
    event: async (body: object) => {
      const { status, json } = await call('POST', '/v1/events/send', body)
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(json)}`)
      return json
    },
    /** The run once it is as `isSo` says. */
    // biome-ignore lint/suspicious/noExplicitAny: an answer has no type before it was looked at
    runWhen: (id: string, isSo: (run: any) => boolean) =>
      until(`run ${id}`, async () => {
        const found = await run(id)
        return isSo(found) ? found : undefined
      }),
    ended: (id: string) =>
      until(`run ${id} ends`, async () => {
        const found = await run(id)
        return ['running', 'waiting'].includes(found.status) ? undefined : found
      }),
    /** The mail of this id as it came to the sandbox. */
    mail: async (emailId: string) => {
      const { to } = await posthorn.until(emailId, ({ status }) => status === 'delivered')
      const found = await until(`mail ${emailId}`, async () => {
        const messages = await listMessages(store, { limit: 100 })
        const ids = messages.filter(({ recipients }) => recipients.includes(String(to)))
        return ids.length === 0 ? undefined : ids
      })
      const message = await findMessage(store, found[0]?.id ?? 0)
      if (message === undefined) throw new Error('The mail is gone')
      const { html = '', text = '', headers } = message.content
      const header = (name: string) => headers.find((one) => one.name === name)?.value
      return { subject: message.subject, html, text, header }
    },
  }
}

function inARow(steps: Steps): object[] {
  const keys = steps.map((step) => (step as { key: string }).key)
  return keys.slice(1).map((to, place) => ({ from: keys[place], to, type: 'default' }))
}
