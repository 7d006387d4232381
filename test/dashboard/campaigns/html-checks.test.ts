// Issue 44: HTML that mail programs take out or show otherwise is told by 'Check and send', with what to write; so is a mail
// of pictures alone; and who writes a draft is told all faults at once.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { packageFile } from '../../../src/config/index.js'
import { fewWordsIn } from '../../../src/dashboard/campaigns/few-words.js'
import { punishedIn } from '../../../src/dashboard/campaigns/html-punished.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plans = loadPlans(packageFile('config/plans.toml'))
await store.write((tx) =>
  setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
)
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body: object) =>
  (await posthorn.call(method, path, { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
await call('POST', `/v1/contacts/${listId}`, { email: 'ann@x.test', firstName: 'Ann' })

t.test('what clients punish is told with what to do instead', async (t) => {
  t.same(punishedIn('<p>Hi<p>there<br><ul><li>a<li>b</ul><table><tr><td>x</table>'), [])
  const told = punishedIn(
    `<script>x()</script><form><input></form><iframe src="x"></iframe>
<link rel="stylesheet" href="https://x.test/a.css">
<div style="position: absolute; display: flex"><b>x</div>
<div style="background-image: url(https://x.test/a.png)">y`,
  )
  for (const says of [
    /take a <script> out/,
    /take a <form> out/,
    /take an <iframe> out/,
    /A style sheet is fetched from elsewhere/,
    /not closed where they should be.*<b> of line 3, <div> of line 4/,
    /do(es)? not show position.*use tables/i,
    /use tables in place of flex/,
  ]) {
    t.match(told.join('\n'), says)
  }
})

t.test('a mail of pictures alone is told, and a short notice is not', async (t) => {
  const picture = '<img src="https://x.test/a.png" width="600" alt="a">'
  t.match(fewWordsIn(picture, ''), /^It has 1 picture and no words: .* at least 20 words\.$/)
  t.match(fewWordsIn(picture + picture, 'Buy it now'), /^It has 2 pictures and only 3 words/)
  t.equal(fewWordsIn('<p>We are closed on Monday.</p>', 'We are closed on Monday.'), undefined)
  const logo = '<img src="https://x.test/logo.png" width="120" alt="Shop"><p>Closed today</p>'
  t.equal(fewWordsIn(logo, 'Closed today'), undefined)
  t.equal(fewWordsIn(`${picture}<img width="1" height="1">`, 'word '.repeat(20)), undefined)
})

t.test('HTML of a campaign, and of each version by itself, is looked at', async (t) => {
  const draft = await call('POST', '/v1/broadcasts', {
    draft: true,
    listId,
    from: 'a@sender.test',
    subject: 'Hi {{ frstName }}',
    html: '<p>Hello {{ first name }}</p><form></form>',
    variants: [
      {},
      {
        html: '<div style="position: absolute"><img src="https://x.test/a.png" width="600"></div>',
      },
    ],
  })
  const { json: kept } = await posthorn.call('GET', `/v1/broadcasts/${draft.id}`)
  t.match(kept.warnings, [
    'Subject: {{ frstName }} is no field of your contacts, and the mail says nothing there. Did you mean {{ firstName }}?',
    /^HTML, line 1: \{\{ first name \}\} is no field/,
  ])
  const { text } = await owner.get(`${base}/campaigns/${draft.id}/send`)
  t.match(text, /Version A: Mail programs take a &lt;form&gt; out/)
  t.match(text, /Version B: .* not show position/)
  t.match(text, /Version B: It has 1 picture and no words/)
  t.match(text, /Version B: The picture https:\/\/x\.test\/a\.png: .*It has no alt text/)
  t.match(
    text,
    /Subject: \{\{ frstName \}\} is no field of your contacts.* Did you mean \{\{ firstName \}\}\?/,
  )
  const edit = (await owner.get(`${base}/campaigns/${draft.id}`)).text
  t.match(edit, /class="notice"><p>Subject: \{\{ frstName \}\}/, 'on the write page too')
})

t.test('all faults of a draft are told at once, each at its field', async (t) => {
  const typed = {
    name: 'x'.repeat(201),
    subject: 'Hi {{ firstName',
    previewText: '{{ a | defalt: "x" }}',
    from: 'News <news@elsewhere.test>',
    replyTo: 'nobody',
    html: '<p>{{ b }</p>',
    scheduledAt: '2020-01-01T09:00',
    rate: 'fast',
    window: '09:00',
    windowTo: '',
  }
  const refused = await owner.post(`${base}/campaigns/new`, typed)
  t.equal(refused.status, 422)
  for (const [field, says] of [
    ['name', /at most 200 characters/],
    ['subject', /Subject: the tag \{\{ firstName has no end; write \}\} after it\./],
    ['previewText', /“defalt” in .* did you mean “default”\?/],
    ['from', /elsewhere\.test is not verified/],
    ['replyTo', /^(?!.*Number 1)/],
    ['html', /HTML, line 1: the tag \{\{ b\} ends with one brace/],
    ['scheduledAt', /This time is over/],
    ['rate', /Write a whole number/],
    ['windowTo', /Say until when too/],
  ] as const) {
    const told = new RegExp(`id="field-${field}-fault">([^<]*)`).exec(refused.text)?.[1]
    t.match(told, says, field)
  }
  for (const value of ['nobody', 'fast', '2020-01-01T09:00', '09:00']) {
    t.match(refused.text, `value="${value}"`, `${value} is kept`)
  }
  const api = await posthorn.call('POST', '/v1/broadcasts', {
    body: { draft: true, listId, from: 'a@sender.test', subject: 'Hi {{ a', html: '{{ b' },
  })
  t.match(api, {
    status: 422,
    json: {
      field: 'subject',
      part: 'subject',
      error: /the tag \{\{ a has no end; write \}\} after it/,
    },
  })
})
