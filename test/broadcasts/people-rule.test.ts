// Issue 44: the people behind a number of a report as a rule, whatever the audience was.
import { is } from 'superstruct'
import t from 'tap'

import { mostParts, ruleOfPeople } from '../../src/broadcasts/index.js'
import { SegmentRule } from '../../src/segments/index.js'

const id = '00000000-0000-7000-8000-000000000001'
const ids = (count: number) =>
  Array.from({ length: count }, (_, n) => `00000000-0000-7000-8000-0000000001${10 + n}`)
const none = { lists: [], segments: [], withoutLists: [], withoutSegments: [] }
const ruleOf = (whom: object, who: 'not_opened' | 'left' = 'not_opened') =>
  ruleOfPeople(
    { id, list_id: '', whom: JSON.stringify(Object.assign({}, none, whom)), sent_at: 1_000 },
    { who },
  )

t.test('an audience of several lists and segments is read whole', async (t) => {
  const [a = '', b = '', c = ''] = ids(3)
  t.same(ruleOf({ lists: [a], segments: [b], withoutLists: [c] }), {
    all: [
      {
        any: [
          { field: `list.${a}.joinedAt`, operator: 'lte', value: '1970-01-01T00:00:01.000Z' },
          {
            all: [
              { field: `segment.${b}`, operator: 'eq', value: true },
              {
                field: 'engagement.lastSentAt',
                operator: 'gte',
                value: '1970-01-01T00:00:01.000Z',
              },
            ],
          },
        ],
      },
      { not: { any: [{ field: `list.${c}`, operator: 'eq', value: true }] } },
      { field: `broadcast.${id}.opened`, operator: 'eq', value: false },
    ],
  })
  t.equal(ruleOf({}), undefined, 'of nobody there is no rule')
  t.equal(ruleOf({ lists: [a] }, 'left'), undefined)
})

t.test('the largest audience fits into a rule', async (t) => {
  for (const count of [1, 10, mostParts]) {
    const all = ids(mostParts)
    const some = [all.slice(0, count), all.slice(count)] as const
    for (const whom of [
      { segments: some[0], withoutSegments: some[1] },
      { lists: some[0], withoutLists: some[1] },
    ]) {
      t.ok(is(ruleOf(whom), SegmentRule), JSON.stringify(whom).slice(0, 80))
    }
  }
})
