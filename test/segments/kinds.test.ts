// Conditions are checked by what their field holds, by API and page alike; what was saved before goes on.
import t from 'tap'
import { systemClock as clock } from '../../src/clock/index.js'
import { createSegment } from '../../src/segments/index.js'
import { eventually } from '../support/eventually.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

const missing = '01a1fc92-9915-7533-8296-04ee3d91dd72'
const hasId = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/

t.test('conditions fit what their fields hold', async (t) => {
  const posthorn = await startPosthorn(t)
  const { accountId, store } = posthorn
  const ask = (method: string, path: string, body?: object) =>
    posthorn.call(method, `/v1${path}`, body === undefined ? {} : { body })
  const list = (await ask('POST', '/contacts/lists', { name: 'Readers' })).json.id
  for (const [n, town] of ['Lagos', 'LAGOS', 'Accra'].entries()) {
    const metadata = { town, age: 30 + n, born: `199${n}-01-31` }
    await ask('POST', `/contacts/${list}`, { email: `c${n}@example.test`, metadata })
  }
  await ask('POST', '/contact-fields', { name: 'born', label: 'Born', type: 'date' })
  const inner = await ask('POST', '/segments', {
    name: 'Lagos people',
    rule: { field: 'contact.metadata.town', operator: 'eq', value: 'lagos', ignoreCase: true },
  })
  const owner = await logIn(posthorn, accountId, 'owner')
  const pages = `/a/${accountId}/segments`
  const typed = (field: string, operator: string, value: string, since = '') => {
    const row = { field, operator, value, since, group: '0' }
    return Object.assign(row, { name: 'Some', mode: 'all', do: 'count' })
  }
  const page = async (field: string, operator: string, value: string, since?: string) =>
    (await owner.post(`${pages}/new/draft`, typed(field, operator, value, since))).text
  const saidOf = (text: string) => /id="counted"[^>]*>([^<]*)</.exec(text)?.[1] ?? text

  await t.test('what decides nothing is refused with what was expected', async (t) => {
    const segment = `segment.${inner.json.id}`
    const rows: [string, string, unknown, RegExp, RegExp | undefined][] = [
      [segment, 'exists', undefined, /Expected eq with true or false/, /choose one of these two/],
      ['mailable', 'is_empty', undefined, /Expected eq with true or false/, /one of these two/],
      [`list.${list}`, 'exists', undefined, /Expected eq with true/, /choose one of these two/],
      ['event.bought', 'exists', undefined, /Expected no exists: .*number of times/, /a number/],
      ['contact.createdAt', 'gt', '1 Nov 2026', /Expected a date such as/, /write a date/],
      ['contact.createdAt', 'gte', 'yesterday', /Expected a date such as/, /write a date/],
      ['contact.createdAt', 'eq', '2026-11-01', /Expected no eq: this field is a time/, /a time/],
      ['engagement.opened', 'gte', -1, /Expected a whole number of 0/, /whole number, 0 or more/],
      ['engagement.opened', 'gte', 1.5, /Expected a whole number of 0/, /whole number, 0 or more/],
      ['contact.email', 'gte', 5, /Expected no gte: this field is a text/, /this is a text/],
      ['contact.firstName', 'eq', 5, /Expected a text: this field is a text/, undefined],
      ['contact.email', 'eq', 'x'.repeat(250), /at most 200/, /at most 200 characters/],
      ['contact.metadata.town', 'gte', 'Lagos', /Expected a number or a date/, /this is a text/],
      ['contact.metadata.born', 'eq', 'banana', /born: Expected a date/, /write a date/],
      ['contact.createdAt', 'within', 'banana', /Expected a duration/, /30 days or 2 weeks/],
    ]
    for (const [field, operator, value, api, form] of rows) {
      const rule = { field, operator, ...(value !== undefined && { value }) }
      const counted = await ask('POST', '/segments/count', { rule })
      t.equal(counted.status, 400, `${field} ${operator} ${value}`)
      t.match(JSON.stringify(counted.json), api)
      t.equal((await ask('POST', '/segments', { name: 'X', rule })).status, 400)
      if (form === undefined) continue
      const said = saidOf(await page(field, operator, String(value ?? '')))
      t.match(said, form, `${field} ${operator} ${value}`)
      t.notMatch(said, /P\d|Expected|eq\b/, 'in words')
    }
    for (const rule of [
      { field: 'engagement.lastOpenedAt', operator: 'exists' },
      { field: 'contact.createdAt', operator: 'gte', value: '2026-11-01' },
      { field: 'contact.metadata.born', operator: 'lt', value: '1992-01-01' },
      { field: 'contact.metadata.town', operator: 'in', value: ['Lagos', 5] },
    ]) {
      t.match(await ask('POST', '/segments/count', { rule }), { status: 200 }, rule.field)
    }
  })

  await t.test('what was saved before goes on, and its words say it', async (t) => {
    const rule = { field: `segment.${inner.json.id}`, operator: 'exists' } as const
    const { id } = await createSegment({ store, clock }, accountId, { name: 'Old', rule })
    t.equal((await ask('PATCH', `/segments/${id}`, { name: 'Older' })).status, 200)
    await eventually(async () => (await ask('GET', `/segments/${id}`)).json.count === 3, 15_000)
    const { text } = await owner.get(`${pages}/${id}`)
    t.match(
      text,
      /Is in the segment “<bdi>Lagos people<\/bdi>” holds or does not hold|Is in the segment “Lagos people” holds or does not hold/,
    )
    const edit = await owner.get(`${pages}/${id}/edit`)
    t.match(edit.text, /holds or does not hold<\/option>/)
    const saved = typed(rule.field, 'exists', '')
    t.equal((await owner.post(`${pages}/${id}/edit`, saved)).status, 303)
    t.same((await ask('GET', `/segments/${id}`)).json.rule, rule)
  })

  await t.test('fields offer what fits them, and what they often hold', async (t) => {
    const town = await page('contact.metadata.town', 'eq', '')
    t.notMatch(town, /was in the last|is at least|>holds</)
    t.match(town, /<datalist id="values-0"><option value="Accra">|<option value="Lagos">/)
    t.match(await page('contact.createdAt', 'gte', ''), /<input type="date" id="than-0"/)
    t.match(
      await page('contact.createdAt', 'gte', 'soon'),
      /<input type="text" id="than-0"[^>]*value="soon"/,
    )
    t.match(await page('contact.metadata.age', 'eq', ''), /inputmode="decimal"/)
    t.notMatch(await page('contact.metadata.age', 'eq', ''), /begins with/)
    t.match(await page('mailable', 'yes', ''), /<input type="hidden" name="value"/)
  })

  await t.test('how often an event came, in how long', async (t) => {
    for (let n = 0; n < 2; n++) {
      const event = { event: 'order.paid', email: 'c0@example.test' }
      t.equal((await ask('POST', '/events/send', event)).status, 202)
    }
    const field = 'event.order.paid'
    await eventually(async () => {
      const { text } = await owner.get(`${pages}/new`)
      return /How often “order\.paid” comes/.test(text)
    }, 15_000)
    const drafted = await page(field, 'gte', '2', '30 days')
    t.match(saidOf(drafted), /1 person fits/)
    t.match(drafted, /name="since"[^>]*value="30 days"/)
    t.match(saidOf(await page(field, 'gte', '2', 'banana')), /Condition 1: write how long/)
    const made = await owner.post(`${pages}/new`, typed(field, 'gte', '2', '1 day 12 hours'))
    const path = made.to.slice(made.to.indexOf('/segments/'))
    const { rule } = (await ask('GET', path)).json
    t.same(rule, { all: [{ field, operator: 'gte', value: 2, since: 'P1DT12H' }] })
    const { text } = await owner.get(made.to)
    t.match(text, /order\.paid[^<]*(<\/bdi>)?” comes at least 2 times in the last 1 day 12 hours/)
    t.match((await owner.get(`${made.to}/edit`)).text, /value="1 day 12 hours"/)
  })

  await t.test('groups in groups, four levels', async (t) => {
    const one = { field: 'mailable', operator: 'eq', value: true }
    const other = { field: `list.${list}`, operator: 'eq', value: true }
    const aged = { not: { field: 'contact.metadata.age', operator: 'in', value: ['5', 5] } }
    const rule = { all: [other, { any: [other, { all: [aged, one] }, { all: [one] }] }] }
    const made = await ask('POST', '/segments', { name: 'Deep', rule })
    t.equal(made.status, 201)
    const { text } = await owner.get(`${pages}/${made.json.id}/edit`)
    t.match(text, /<legend>Group 3<\/legend>/)
    // As a browser sends it back, with another name and one more condition at the beginning.
    const names = ['group', 'field', 'operator', 'value', 'since'] as const
    const rows = [
      ['0', other.field, 'yes', '', ''],
      ['1', other.field, 'yes', '', ''],
      ['2', aged.not.field, 'neq', '5', ''],
      ['2', 'mailable', 'yes', '', ''],
      ['3', 'mailable', 'yes', '', ''],
    ]
    const sent = {
      name: 'Deeper',
      mode: 'all',
      modes: ['any', 'all', 'all'],
      parents: ['0', '1', '1'],
      ...Object.fromEntries(names.map((name, at) => [name, rows.map((row) => row[at] ?? '')])),
    }
    const more = await owner.post(`${pages}/${made.json.id}/draft`, { ...sent, do: 'add.1' })
    t.match(more.text, /aria-label="Condition 6"/)
    t.equal((await owner.post(`${pages}/${made.json.id}/edit`, sent)).status, 303)
    t.same((await ask('GET', `/segments/${made.json.id}`)).json.rule, rule, 'as it was')
    // Buttons name conditions by their place in the page: the added one is the third.
    const third = { ...sent, do: 'remove.2' }
    t.notMatch((await owner.post(`${pages}/${made.json.id}/draft`, third)).text, /value="5"/)
  })

  await t.test('an edit says who is affected, and no page shows an id', async (t) => {
    const asks = { field: `segment.${inner.json.id}`, operator: 'eq', value: true }
    await ask('POST', '/segments', { name: 'Circle', rule: asks })
    const edit = `${pages}/${inner.json.id}/edit`
    const before = await owner.get(edit)
    t.match(before.text, /Used by the segment[\s\S]*Circle[\s\S]*Another rule changes whom/)
    t.match(before.text, /In it now: /)
    const changed = typed('contact.metadata.town', 'eq', 'Accra')
    const saved = await owner.post(edit, changed)
    const flash = saved.headers.get('set-cookie')?.split(';')[0] ?? ''
    const after = await owner.get(saved.to, { cookie: `${owner.cookie}; ${flash}` })
    t.match(after.text, /looked for anew, and with them change the segment[\s\S]{0,20}Circle/)
    const gone = (await ask('POST', '/contacts/lists', { name: 'Tmp' })).json.id
    const rule = { all: [{ field: `list.${gone}`, operator: 'eq', value: true }, asks] }
    const on = await ask('POST', '/segments', { name: 'On Tmp', rule })
    t.equal((await ask('DELETE', `/contacts/lists/${gone}`)).status, 200)
    t.match((await ask('GET', `/segments/${on.json.id}`)).json.broken, [/no such list/])
    for (const path of [pages, `${pages}/${on.json.id}`, `${pages}/${on.json.id}/edit`]) {
      const { text } = await owner.get(path)
      const main = text.slice(text.indexOf('<main'), text.indexOf('Do the same by API'))
      const read = main.replace(/<[^>]*>/g, ' ')
      t.notMatch(read, hasId, path)
      t.match(read, /list\s+that is deleted/)
    }
    const kept = await owner.post(`${pages}/new`, typed(`list.${gone}`, 'yes', ''))
    t.match(kept.text, /Condition 1: this list is deleted; choose another one/)
    t.equal(
      (await ask('POST', '/segments', { name: 'X', rule: { ...asks, field: `list.${missing}` } }))
        .status,
      400,
    )
  })
})
