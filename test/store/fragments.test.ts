import { sql } from 'kysely'
import t from 'tap'
import { boundCell, cell, idsIn, idsOf, preparedOver, rowsOf } from '../../src/store/index.js'
import { aboutSqlite } from '../support/postgres.js'
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

t.test('cells are what the array has, null too', aboutSqlite, async (t) => {
  const { read } = await openTestStore(t)
  const rows = await read
    .selectFrom(rowsOf(JSON.stringify([['7', 7, null]])))
    .select([cell(0, 'text').as('text'), cell(1, 'integer').as('number')])
    .select([cell<string | null>(2, 'text').as('nothing')])
    .select(sql<string>`typeof(${cell(0, 'text')})`.as('type'))
    .execute()
  t.same(rows, [{ text: '7', number: 7, nothing: null, type: 'text' }])
})

t.test(
  'a query over bound rows has each of them once, however many there are',
  aboutSqlite,
  async (t) => {
    const { read, write } = await openTestStore(t)
    await write((tx) =>
      sql`create table named (id text primary key, times integer) strict`.execute(tx),
    )
    const ids = Array.from({ length: 150 }, (_, i) => `id${i}`)
    await write(async (tx) => {
      for (const id of ids) await sql`insert into named values (${id}, 0)`.execute(tx)
    })
    const add = preparedOver<unknown>(2, (_, lines) => ({
      compile: () =>
        sql`update named set times = times + ${boundCell(1, 'integer')} from ${lines}
        where named.id = ${boundCell(0, 'text')}`.compile(read),
    }))
    const find = preparedOver<{ id: string; times: number | null }>(1, (_, lines) => ({
      compile: () =>
        sql<{ id: string; times: number | null }>`select named.id, times from ${lines}
        join named on named.id = ${boundCell(0, 'text')}`.compile(read),
    }))
    let times = 0
    for (const count of [0, 1, 2, 4, 5, 16, 17, 64, 65, 150]) {
      const some = ids.slice(0, count)
      await write((tx) =>
        add(
          tx,
          some.map((id) => [id, 10]),
        ),
      )
      if (count > 0) times += 10
      const rows = await find(
        read,
        some.map((id) => [id]),
      )
      t.same(rows.map(({ id }) => id).sort(), [...some].sort(), `${count} rows`)
      if (count > 0) t.equal(rows.find(({ id }) => id === 'id0')?.times, times)
    }
    t.same(await find(read, [['nobody'], ['id149']]), [{ id: 'id149', times: 10 }])
  },
)
