import t from 'tap'
import { plainTextOf } from '../../src/outbound/content/plain-text.js'

t.test('the text part says what the HTML says, with its links', async (t) => {
  const html = '<h1>Hello</h1><p>Read <a href="https://x.test/a">this</a>.</p><img src="x.png">'
  t.equal(plainTextOf(html), 'HELLO\n\nRead this [https://x.test/a].')
})

t.test('HTML that is built to take long is cut', async (t) => {
  for (const piece of ['<h1>x', '<table><tr><td>x', '<ol><li>x', '<div>x', '<p>x</p>']) {
    const pieces = 400_000
    const said = plainTextOf(piece.repeat(pieces)).match(/x/gi)?.length ?? 0
    t.ok(said < pieces / 10, `${piece}: ${said} of ${pieces}`)
  }
  t.ok(plainTextOf('word '.repeat(400_000)).length < 600_000, 'text without tags too')
  t.equal(plainTextOf('<'.repeat(1_000_000)).length < 20_000, true)
})

t.test('a long newsletter is not', async (t) => {
  const rows = Array.from({ length: 2_000 }, (_, i) => `<tr><td>row ${i}</td></tr>`).join('')
  t.match(plainTextOf(`<table>${rows}</table>`), /row 1999/)
})
