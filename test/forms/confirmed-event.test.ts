import t from 'tap'
import { suppress } from '../../src/suppression/index.js'
import { eventually } from '../support/eventually.js'
import { fillIn, linkTo, makeForm, startWithForms } from '../support/signup-forms.js'

t.test('who confirms a form starts the automations that begin with it, of that form', async (t) => {
  const posthorn = await startWithForms(t)
  const { store, accountId } = posthorn
  const form = await makeForm(posthorn)
  const other = await makeForm(posthorn, { name: 'Other' })
  const make = async (name: string, formId: string | undefined) => {
    const filter = formId && { field: 'event.formId', operator: 'eq', value: formId }
    const config = { eventName: '$form.confirmed', ...(filter && { filter }) }
    const steps = [
      { key: 'start', type: 'trigger', config },
      {
        key: 'note',
        type: 'contact_update',
        config: { metadata: { by: { var: 'trigger.form' } } },
      },
    ]
    const connections = [{ from: 'start', to: 'note', type: 'default' }]
    const body = { name, steps, connections }
    const { json } = await posthorn.call('POST', '/v1/automations', { body })
    const enabled = await posthorn.call('POST', `/v1/automations/${json.id}/enable`)
    return { id: json.id as string, ...enabled }
  }
  const any = await make('Any', undefined)
  const ofForm = await make('This', form.id)
  const ofOther = await make('That', other.id)
  t.same([any.status, ofForm.status, ofOther.status], [200, 200, 200])
  const joining = {
    name: 'Joined',
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: '$list.joined' } },
      { key: 'out', type: 'exit' },
    ],
    connections: [{ from: 'start', to: 'out', type: 'default' }],
  }
  const joined = (await posthorn.call('POST', '/v1/automations', { body: joining })).json
  await posthorn.call('POST', `/v1/automations/${joined.id}/enable`)
  const unknown = '01900000-0000-7000-8000-000000000000'
  const refused = await make('None', unknown)
  t.equal(refused.status, 422)
  t.match(refused.json.errors, [
    { key: 'start', error: `filter: the account has no form ${unknown}` },
  ])

  const runs = async ({ id }: { id: string }) =>
    (await posthorn.call('GET', `/v1/automations/${id}/runs`)).json.runs as { status: string }[]
  // Who had left everything comes back by confirming, and is not taken for one who has left.
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'ada@reader.test', reason: 'unsubscribe' }, Date.now()),
  )
  await fillIn(posthorn, form.page, 'ada@reader.test')
  const link = await linkTo(posthorn, 'ada@reader.test')
  t.same(await runs(any), [], 'sent in is not confirmed')
  await fetch(link, { method: 'POST' })
  await fetch(link, { method: 'POST' })
  await eventually(async () => (await runs(ofForm))[0]?.status === 'completed', 15_000)
  t.equal((await runs(any)).length, 1)
  t.equal((await runs(joined)).length, 1, 'of the list too')
  t.equal((await runs(ofForm)).length, 1)
  t.same(await runs(ofOther), [])
  const { json } = await posthorn.call('GET', '/v1/contacts/all?q=ada')
  const { metadata } = (await posthorn.call('GET', `/v1/contacts/all/${json.contacts[0].id}`)).json
  t.equal(metadata.by, 'Sign up')
})

t.test('a form by which nobody, or not everybody, confirms is warned of', async (t) => {
  const posthorn = await startWithForms(t)
  const typed = await makeForm(posthorn, { doubleOptIn: false, acceptRisk: true })
  const gone = await makeForm(posthorn, { name: 'Gone' })
  await posthorn.call('PATCH', `/v1/forms/${gone.id}`, { body: { archived: true } })
  const made = async (formId: string) => {
    const filter = { field: 'event.formId', operator: 'eq', value: formId }
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: '$form.confirmed', filter } },
      { key: 'out', type: 'exit' },
    ]
    const connections = [{ from: 'start', to: 'out', type: 'default' }]
    const body = { name: 'x', steps, connections }
    const { id } = (await posthorn.call('POST', '/v1/automations', { body })).json
    return JSON.stringify((await posthorn.call('GET', `/v1/automations/${id}`)).json.warnings)
  }
  t.match(await made(typed.id), /asks strangers for no confirmation/)
  t.match(await made(gone.id), /is archived/)
})
