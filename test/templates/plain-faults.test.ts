// What Liquid's parser says in its own words is told in those of whoever wrote the tag: which it is, and what to write.
import t from 'tap'
import { nearestName } from '../../src/templates/nearest-name.js'
import { oddTags } from '../../src/templates/odd-tags.js'
import { makeRenderJob } from '../../src/templates/render-job.js'

const budget = { take() {}, checkTime() {}, renew() {}, exceeded: () => undefined, rest() {} }
const render = makeRenderJob(budget)

const said = (liquid: string) => {
  const part = { key: null, liquid }
  const subject = { key: null, liquid: '-' }
  const job = { accountId: 'a', subject, html: part, text: null, variables: '{}', strict: false }
  const outcome = render(job)
  return outcome.kind === 'failed' ? outcome.fault.message : outcome.kind
}

t.test('what cannot be read is told with the tag and what to write', async (t) => {
  const as = 'write it as in {{ firstName | default: "you" }}'
  for (const [liquid, says] of [
    ['Hi {{ firstName, welcome', 'the tag {{ firstName, welcome has no end; write }} after it'],
    ['<p>Hi {{ firstName</p>', 'the tag {{ firstName has no end; write }} after it'],
    ['{{ firstName }', 'the tag {{ firstName} ends with one brace; write }} at its end'],
    [
      '{{ a | defalt: "x" }}',
      '“defalt” in {{ a | defalt: "x" }} is no filter; did you mean “default”?',
    ],
    ['{{ a | default "x" }}', `a colon is missing in {{ a | default "x" }}: ${as}`],
    ['{{ a | default: x" }}', `{{ a | default: x" }} has a quote that does not end; ${as}`],
    [
      '{{ a | default: “you” }}',
      '{{ a | default: “you” }} has curly quotes; write straight ones: {{ firstName | default: "you" }}',
    ],
    ['{{ a || "x" }}', `{{ a || "x" }} has || in it; ${as}`],
    ['{{{a}}}', '{{{a}}} has too many braces; write two on each side: {{ firstName }}'],
    ['{{ }}', '{{ }} names no field; write one between the braces: {{ firstName }}'],
    [
      '{{ first&nbsp;name }}',
      '{{ first&nbsp;name }} has a space of HTML in it; type a plain space',
    ],
    ['{% if a = "b" %}x{% endif %}', '{% if a = "b" %} compares with one =; write =='],
    ['{% if a %}x', '{% if a %} has no end; write {% endif %} where it ends'],
    ['{% endif %}', '{% endif %} ends nothing: no {% if … %} comes before it'],
    ['{% else %}', '{% else %} stands in no condition; {% if … %} has to come before it'],
    ['{% iff a %}', '{% iff a %} is no command; did you mean {% if … %}?'],
    ['{% firstName %}', '{% firstName %} is no command; for a value write {{ firstName }}'],
  ] as const) {
    t.equal(said(liquid), says)
  }
})

t.test('the nearest name is offered, and none for what is far from all', async (t) => {
  const names = ['firstName', 'lastName', 'email', 'city']
  for (const typed of ['frstName', 'First name', 'first_name', 'fristName', 'FIRSTNAME']) {
    t.equal(nearestName(typed, names), 'firstName', typed)
  }
  t.equal(nearestName('cty', names), 'city')
  t.equal(nearestName('shoe', names), undefined)
  t.equal(nearestName('x'.repeat(5_000), names), undefined)
})

t.test('tags that say nothing to anybody are told with their place', async (t) => {
  const blocks = {
    version: 1 as const,
    blocks: [
      { type: 'heading' as const, text: 'Hi {{ firstName }}' },
      { type: 'text' as const, text: 'From {{ cty | default: "far" }} and {{ contact.city }}' },
    ],
  }
  const content = { subject: 'For {{ first name }}', previewText: '*|FNAME|*', html: '', blocks }
  t.same(
    oddTags(content, ['city']).map(({ says }) => says),
    [
      'Subject: {{ first name }} is no field of your contacts, and the mail says nothing there. Did you mean {{ firstName }}?',
      'Preview text: *|FNAME|* is a tag of another program, and arrives as it is typed. Did you mean {{ firstName }}?',
      'Block 2 (text): {{ cty | default: "far" }} is no field of your contacts, and the mail says nothing there. Did you mean {{ city }}?',
      'Block 2 (text): {{ contact.city }} is no field of your contacts, and the mail says nothing there. Did you mean {{ city }}?',
    ],
  )
  const html =
    '<p>{{ firstName | default: "you" }}</p>\n{% for x in metadata.shoes %}{{ x }}{{ forloop.index }}{% endfor %}{% assign y = 1 %}{{ y }}{{ "z" }}{{ 3 }}\n<a href="%7B%7B%20shp%20%7D%7D">{{ unsubscribe_url }}{{ metadata.city }}</a>'
  t.match(oddTags({ subject: 'x', html }, ['city', 'shop', 'shoes']), [
    { name: 'shp', says: /^HTML, line 3: \{\{ shp \}\} .* Did you mean \{\{ shop \}\}\?$/ },
  ])
})
