// Issue 47: to look at a step writes nothing, a moved step is told of, and what a stranger missed in the editor.
import t, { type Test } from 'tap'
import { recipes } from '../../../src/automations/index.js'
import { openAutomationPages } from '../../support/automation-pages.js'
import { entriesOf } from '../../support/editor-fields.js'

const pages = await openAutomationPages(t)
const { base, owner, from } = pages
const { id: listId } = await pages.call('POST', '/v1/contacts/lists', { name: 'Readers' })

/** All fields of an editor, those of one name together. */
function sentBy(html: string): Record<string, string[]> {
  const fields: Record<string, string[]> = {}
  for (const [name, value] of entriesOf(html)) {
    const before = fields[name] ?? []
    fields[name] = [...before, value]
  }
  return fields
}

/** Opens each step and sends its form as it stands there. */
async function lookAtAll(edit: string): Promise<number> {
  let html = (await owner.get(edit)).text
  const places = [...html.matchAll(/value="open:([\d.]+)"/g)].map(([, place]) => place ?? '')
  for (const place of places) {
    const opened = await owner.post(`${edit}/draft`, { ...sentBy(html), do: `open:${place}` })
    html = (await owner.post(`${edit}/draft`, { ...sentBy(opened.text), do: 'close:' })).text
  }
  return places.length
}

const notChanged = async (t: Test, id: string, name: string) =>
  t.match(await pages.call('GET', `/v1/automations/${id}/draft`), { isDraft: false }, name)

t.test('to look at the steps of a recipe makes no draft', async (t) => {
  for (const { name } of recipes) {
    const { id, edit } = await pages.made({ recipe: name, name: `Look at ${name}`, list: listId })
    t.ok((await lookAtAll(edit)) >= 2)
    await notChanged(t, id, name)
  }
})

t.test('nor does a look at what programs write otherwise than the form', async (t) => {
  const rule = { field: 'contact.firstName', operator: 'eq', value: 'Ann' }
  const other = { field: 'contact.lastName', operator: 'eq', value: 'Lee' }
  const place = { field: 'event.listId', operator: 'eq', value: listId }
  const send = { template: 'welcome-1', from }
  const written: Record<string, { key: string; type: string; config: object }[]> = {
    'a bare rule, and the usual said': [
      { key: 's', type: 'trigger', config: { eventName: 'x', filter: rule, reentry: 'after_end' } },
      { key: 'w', type: 'wait_for_event', config: { eventName: 'y', filter: rule, since: 'run' } },
      { key: 'c', type: 'condition', config: rule },
    ],
    'a list behind its rule, in weeks': [
      {
        key: 's',
        type: 'trigger',
        config: {
          eventName: '$list.joined',
          filter: { all: [rule, place] },
          reentry: { after: 'P2W' },
        },
      },
      { key: 'd', type: 'delay', config: { duration: 'P1DT2H' } },
      {
        key: 'e',
        type: 'delay',
        config: { until: { time: '10:00', days: [5, 1], zone: 'contact' } },
      },
      { key: 'c', type: 'condition', config: { all: [{ any: [rule, other] }] } },
    ],
    'any of two, and a date with all that holds anyway': [
      {
        key: 's',
        type: 'trigger',
        config: {
          eventName: '$contact.date',
          date: { field: 'contact.metadata.born', days: 0, time: '09:00', repeat: 'yearly' },
          filter: { any: [rule, other] },
          reentry: 'after_end',
        },
      },
      {
        key: 'm',
        type: 'send_email',
        config: { ...send, type: 'marketing', replyTo: ['a@x.test', 'b@x.test'], variables: {} },
      },
      {
        key: 'u',
        type: 'contact_update',
        config: {
          firstName: null,
          metadata: {
            a: 'two\nlines',
            b: ' wide ',
            c: '5',
            d: 5,
            e: null,
            f: { var: 'trigger.x' },
          },
        },
      },
      {
        key: 'p',
        type: 'split',
        config: {
          branches: [
            { key: 'a', percent: 33.5 },
            { key: 'b', percent: 66.5 },
          ],
        },
      },
    ],
    'a date once for each person': [
      {
        key: 's',
        type: 'trigger',
        config: { eventName: '$contact.date', date: { field: 'born' }, reentry: 'once' },
      },
      { key: 'e', type: 'exit', config: { reason: 'over' } },
    ],
  }
  for (const [name, steps] of Object.entries(written)) {
    const connections = steps.slice(1).map(({ key: to }, at) => {
      const { key: from, type } = steps[at] as (typeof steps)[number]
      const ways = { wait_for_event: 'event_received', condition: 'condition_met' } as const
      return { from, to, type: ways[type as keyof typeof ways] ?? 'default' }
    })
    const { id } = await pages.call('POST', '/v1/automations', { name, steps, connections })
    t.equal(await lookAtAll(`${base}/automations/${id}/edit`), steps.length)
    await notChanged(t, id, name)
  }
})

t.test('a step that is moved is open, and said to be where it is', async (t) => {
  const { edit } = await pages.made({ recipe: 'review', name: 'Moved' })
  const first = (await owner.get(edit)).text
  t.match(first, /<p class="hidden" data-moved role="status"><\/p>/)
  t.match(first, /value="down:0\.1" formaction="[^"]*#open"/, 'the page is where the step is')
  const moved = (await owner.post(`${edit}/draft`, { ...sentBy(first), do: 'down:0.1' })).text
  t.match(moved, /data-moved role="status">“Wait (1 week|7 days)” is now step 3 of 4</)
  t.match(moved, /id="open"[^>]*><legend>[^/]*Wait (1 week|7 days)/)
  const again = (await owner.post(`${edit}/draft`, { ...sentBy(moved), do: 'show:' })).text
  t.notMatch(again, /is now step/)
})

t.test('a date says how often by itself, and offers the fields that hold one', async (t) => {
  await pages.call('POST', '/v1/contact-fields', {
    name: 'renewal',
    label: 'Renewal',
    type: 'date',
  })
  const { edit } = await pages.made({ recipe: 'birthday', name: 'Dated' })
  const html = (await owner.get(edit)).text
  const open = (await owner.post(`${edit}/draft`, { ...sentBy(html), do: 'open:0.0' })).text
  t.match(open, /<datalist id="date-fields">[\s\S]*<option value="renewal">Renewal<\/option>/)
  t.match(open, /<option value="birthday">/)
  t.notMatch(open, /name="s\.reentry"/, 'how often is asked once')
  t.notMatch(open, /there is no field of this name/)
  const typed = { ...sentBy(open), 's.dateField': 'birthdya', do: 'show:' }
  const wrong = (await owner.post(`${edit}/draft`, typed)).text
  t.match(
    wrong,
    /id="field-s\.dateField-fault">No contact has a day in “birthdya”, and there is no field of this name\. Your fields with a date: [^<]*birthday/,
  )
  const closed = (await owner.post(`${edit}/draft`, { ...sentBy(wrong), do: 'close:' })).text
  t.match(closed, /<p class="hint">No contact has a day in “birthdya”/)
})

t.test('a template names what will send it, and leads back', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'basket', name: 'Basket & co' })
  const { steps, connections } = await pages.call('GET', `/v1/automations/${id}`)
  const slug: string = steps.find(({ type }: { type: string }) => type === 'send_email').config
    .template
  const html = (await owner.get(edit)).text
  const at = `${base}/templates/${slug}?for=${id}`
  t.match(html, `href="${at}">Write this mail</a>`)
  t.match((await owner.get(`${page}/enable`)).text, `href="${at}"`)
  const there = (await owner.get(at)).text
  t.match(there, `<a class="back" href="${edit}">← Basket &amp; co</a>`)
  t.match(there, /Basket &amp; co<\/a> is off: once it is turned on, it sends what you save/)
  t.notMatch(there, /No automation sends the newest version/)
  const saved = await owner.post(`${base}/templates/${slug}`, {
    ...sentBy(there),
    html: '<p>Our own words</p>',
    subject: 'Your basket',
  })
  t.equal(saved.to, at, 'the way back survives the save')
  const plain = (await owner.get(`${base}/templates/${slug}`)).text
  t.match(plain, /class="back" href="[^"]*\/templates">← Templates</)
  for (const other of ['https://evil.test/', '//evil.test', crypto.randomUUID()]) {
    const { status, text } = await owner.get(
      `${base}/templates/${slug}?for=${encodeURIComponent(other)}`,
    )
    t.equal(status, 200, other)
    t.match(text, /← Templates</)
    t.notMatch(text, /evil/)
  }
  // A draft of what is on has another mail.
  await pages.writeMails(id)
  await pages.call('POST', `/v1/automations/${id}/enable`)
  t.notMatch((await owner.get(at)).text, /is off: once/)
  await pages.call('POST', '/v1/templates', { slug: 'other', subject: 'Other', html: '<p>x</p>' })
  const written = JSON.parse(
    JSON.stringify(steps).replace(`"template":"${slug}"`, '"template":"other"'),
  )
  await pages.call('PATCH', `/v1/automations/${id}/draft`, { steps: written, connections })
  t.match(
    (await owner.get(`${base}/templates/other`)).text,
    /Basket &amp; co<\/a> has it in its draft: once that is in force/,
  )
})

t.test('who is in the list already is told of, with the way to start it for them', async (t) => {
  for (const email of ['one@x.test', 'two@x.test'])
    await pages.call('POST', `/v1/contacts/${listId}`, { email })
  const { id, page } = await pages.made({ recipe: 'welcome', name: 'Welcome', list: listId })
  await pages.writeMails(id)
  const off = (await owner.get(`${page}/enable`)).text
  t.match(off, /2 people are in “Readers” already, and do not enter by being there\. Once it is on/)
  await pages.call('POST', `/v1/automations/${id}/enable`)
  const on = (await owner.get(`${page}/enable`)).text
  t.match(
    on,
    new RegExp(
      `2 people are in[^<]*Readers[\\s\\S]{0,200}href="${page}/start"[^>]*>Start for a list or segment`,
    ),
  )
})

t.test(
  'who is only said to click is told nothing of opens; nobody who enters has no table',
  async (t) => {
    const { page } = await pages.made({ recipe: 'birthday', name: 'Tried' })
    const clicked = { email: 'a@x.test', date: '1990-02-28', clicked: 'birthday-1', go: 'on' }
    t.notMatch((await owner.post(`${page}/simulate`, clicked)).text, /They open “/)
    const opened = { ...clicked, opened: 'birthday-1' }
    t.match((await owner.post(`${page}/simulate`, opened)).text, /They open “/)
    const many = (await owner.post(`${page}/simulate`, { whom: `list.${listId}`, go: 'on' })).text
    t.match(many, /it begins for 0 of them/)
    t.notMatch(many, /What comes of each step/)
  },
)

t.test('a copy by the API has the draft, if that is asked for', async (t) => {
  const { id } = await pages.made({ recipe: 'review', name: 'Copied' })
  const { steps, connections } = await pages.call('GET', `/v1/automations/${id}`)
  const longer = JSON.parse(JSON.stringify(steps).replace('"P7D"', '"P9D"'))
  await pages.writeMails(id)
  await pages.call('POST', `/v1/automations/${id}/enable`)
  await pages.call('PATCH', `/v1/automations/${id}/draft`, { steps: longer, connections })
  const copied = async (body?: object) => {
    const made = await pages.call('POST', `/v1/automations/${id}/duplicate`, body)
    return await pages.call('GET', `/v1/automations/${made.id}/draft`)
  }
  t.match(await copied(), { isDraft: false }, 'as it was without a body')
  t.match(await copied({}), { isDraft: false })
  t.match(await copied({ draft: true }), { isDraft: true, name: 'Copied (copy)' })
  const wrong = await pages.ask('POST', `/v1/automations/${id}/duplicate`, { draft: 'yes' })
  t.ok(wrong.status >= 400 && wrong.status < 500, wrong.text)
})
