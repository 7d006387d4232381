import { sql } from 'kysely'
import t from 'tap'
import { cell, idsIn, idsOf, rowsOf } from '../../src/store/index.js'
import { openTestStore } from '../support/store.js'

t.test(
  'values have the type of the column that they are compared with, or nothing compiles',
  async (t) => {
    const { read } = await openTestStore(t)
    const mails = read.selectFrom('emails').select('id')
    const waiting = read.selectFrom('queue').select('id')
    t.same(await mails.where('id', 'in', idsIn(['a'], 'text')).execute(), [])
    t.same(await waiting.where('id', 'in', idsIn([1], 'integer')).execute(), [])
    const mistakes = [
      // @ts-expect-error: texts for a number
      () => waiting.where('id', 'in', idsIn(['1'], 'text')),
      // @ts-expect-error: numbers for a text
      () => mails.where('id', 'in', idsOf('[1]', 'integer')),
      // @ts-expect-error: not what they are said to be
      () => idsIn([1], 'text'),
      // @ts-expect-error: a cell of texts for a number
      () => waiting.where('id', '=', cell(0, 'text')),
    ]
    t.equal(mistakes.length, 4)
  },
)

t.test('cells are what the array has, null too', async (t) => {
  const { read } = await openTestStore(t)
  const rows = await read
    .selectFrom(rowsOf(JSON.stringify([['7', 7, null]])))
    .select([cell(0, 'text').as('text'), cell(1, 'integer').as('number')])
    .select([cell<string | null>(2, 'text').as('nothing')])
    .select(sql<string>`typeof(${cell(0, 'text')})`.as('type'))
    .execute()
  t.same(rows, [{ text: '7', number: 7, nothing: null, type: 'text' }])
})
