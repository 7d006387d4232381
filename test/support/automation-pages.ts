import type { Test } from 'tap'
import { findPlan, setMarketingPlan } from '../../src/billing/index.js'
import { plans } from './campaigns.js'
import { type LoggedIn, logIn } from './log-in.js'
import { startPosthorn } from './posthorn.js'

/** An appliance with a marketing plan, its owner at the pages of their account, and the API beside them. */
export async function openAutomationPages(t: Test) {
  const posthorn = await startPosthorn(t)
  const { store, accountId } = posthorn
  await store.write((tx) =>
    setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
  )
  const as = async (role: Parameters<typeof logIn>[2]) =>
    reading(await logIn(posthorn, accountId, role))
  const owner = await as('owner')
  const base = `/a/${accountId}`
  const ask = async (method: string, path: string, body?: object) =>
    await posthorn.call(method, path, body === undefined ? {} : { body })
  const call = async (method: string, path: string, body?: object) => {
    const { status, json, text } = await ask(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json
  }
  return {
    posthorn,
    store,
    accountId,
    base,
    owner,
    /** Somebody else of the account. */
    as,
    from: 'Shop <news@sender.test>',
    /** A call of the API, whatever the answer is. */
    ask,
    /** A call that must not be refused. */
    call,
    /** Writes the account's words into the mails of a recipe, which cannot be turned on before that. */
    async writeMails(id: string) {
      const { steps } = await call('GET', `/v1/automations/${id}`)
      for (const { type, config } of steps) {
        if (type !== 'send_email') continue
        await call('PATCH', `/v1/templates/${config.template}`, { html: '<p>Our own words</p>' })
      }
    },
    /** Makes an automation from a recipe by the page; resolves with the address of its editor. */
    async made(
      fields: Record<string, string>,
    ): Promise<{ id: string; edit: string; page: string }> {
      const got = await owner.post(`${base}/automations/new`, {
        from: 'Shop <news@sender.test>',
        ...fields,
      })
      if (got.status !== 303) throw new Error(`${got.status} ${got.text.slice(0, 400)}`)
      const page = got.to.replace(/\/edit$/, '')
      return { id: page.split('/').at(-1) ?? '', edit: got.to, page }
    },
  }
}

/** The same person, whose pages come without the tags that only let words break. */
function reading(person: LoggedIn): LoggedIn {
  const read = async (answer: ReturnType<LoggedIn['get']>) => {
    const { text, ...more } = await answer
    return { ...more, text: text.replace(/<wbr>/g, '') }
  }
  return {
    ...person,
    get: (...asked) => read(person.get(...asked)),
    post: (...asked) => read(person.post(...asked)),
  }
}
