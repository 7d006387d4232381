import t from 'tap'
import { readOwnHeaders } from '../../src/submission/own-headers.js'

const tagsIn = (value: string) =>
  readOwnHeaders([{ name: 'x-posthorn-tags', value, raw: Buffer.from('') }]).tags

t.test('tags are read without the blanks around them', async (t) => {
  t.same(tagsIn(' plan = pro ,step= 2 b ,empty='), [
    { name: 'plan', value: 'pro' },
    { name: 'step', value: '2 b' },
    { name: 'empty', value: '' },
  ])
  t.throws(() => tagsIn('plan'), /Tags cannot be read/)
})

t.test('a run of blanks in a tag costs no more than letters', async (t) => {
  const long = `a${' '.repeat(400_000)}b`
  const { user } = process.cpuUsage()
  t.same(tagsIn(`plan=${long}`), [{ name: 'plan', value: long }])
  // By the square of the blanks it was minutes.
  const seconds = (process.cpuUsage().user - user) / 1e6
  t.ok(seconds < 10, `${seconds} s`)
})
