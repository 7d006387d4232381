import t from 'tap'
import { makeGuesses } from '../../../src/dashboard/templates/preview.js'

t.test(
  'a variable is its name, a list has an item with the fields that are taken of it',
  async (t) => {
    const guess = makeGuesses(
      '{{ user.firstName }} {% for i in order.items %}{{ i.title }} {{i.unit-price}}{% endfor %}' +
        '{%- tablerow tag in tags %}{{ tag }}{% endtablerow %}',
    )
    t.equal(guess('user.firstName'), 'First Name')
    t.same(JSON.parse(guess('order.items')), [{ title: 'Title', 'unit-price': 'Unit price' }])
    t.same(JSON.parse(guess('tags')), ['Tag'])
  },
)

t.test('a source that is one long word, or nothing but loops, takes no time', async (t) => {
  const paths = Array.from({ length: 100 }, (_, n) => `list${n}`)
  const loops = paths.map((path) => `{% for x in ${path} %}{{ x.name }}{% endfor %}`).join('')
  const all = 256 * 1024
  for (const [what, filling] of [
    ['letters', 'a'.repeat(all)],
    ['fields', 'x.a '.repeat(all / 4)],
    ['loops over one list', '{%for x in l%}'.repeat(all / 14)],
    ['blanks', `{% for${' '.repeat(all)}`],
    [
      'items of one list',
      Array.from({ length: all / 20 }, (_, n) => `{%for x${n} in l%}`).join(''),
    ],
  ] as const) {
    const { user } = process.cpuUsage()
    const guess = makeGuesses(loops + filling)
    for (const path of paths) {
      t.match(JSON.parse(guess(path)), [{ name: 'Name' }], what)
    }
    guess('l')
    // A look for each of the lists took over an hour for the letters.
    const seconds = (process.cpuUsage().user - user) / 1e6
    t.ok(seconds < 5, `${what}: ${seconds} s`)
  }
})
