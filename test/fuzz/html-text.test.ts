import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOfHtml } from '../../src/mime/index.js'
import { fuzz } from './driver.js'

const folder = 'test/fixtures/html-text'
const seeds = readdirSync(folder)
  .filter((name) => name.endsWith('.html'))
  .map((name) => readFileSync(join(folder, name), 'latin1'))
const tokens = [
  '<',
  '>',
  '</',
  '<!--',
  '-->',
  '--',
  '<!',
  '<?',
  '"',
  "'",
  '=',
  '&',
  '&#',
  '&#x110000;',
  '&lt;',
  '<div>',
  '<p>',
  '</p>',
  '<b>',
  '</b>',
  '<span hidden>',
  '</span>',
  '<a href="',
  '<a href=x>',
  '<table>',
  '<tr>',
  '<td>',
  '</table>',
  '</td>',
  '<ul>',
  '<ol start=-9>',
  '<li>',
  '<dd>',
  '<pre>',
  '\n',
  '\t',
  '<blockquote>',
  '<br>',
  '<hr>',
  '<style>.a{',
  '}',
  '<script>',
  '<template>',
  ' style="display:none"',
  ' style=";;:;"',
  'font-size:0',
  '@media (min-width:1px){',
  'class=a ',
  '<img alt="',
  '<area href=x alt=y>',
  '\xa0',
  '\xad',
  '\0',
  '</br>',
  '<a><a>',
  '<p style="white-space:pre">',
]

fuzz('HTML to text', 4_000, { seeds, tokens }, async (html) => {
  const { text, isCut } = textOfHtml(html)
  if (isCut) return 'cut'
  // A rule has forty characters for four, a line twenty in front of it.
  if (text.length > 45 * html.length + 100) return `${text.length} of ${html.length}`
  if (text !== textOfHtml(html).text) return 'another text the second time'
  if (/\r/.test(text) || /^\n|\n$/.test(text)) return 'a line end too much'
  const mayKeep = /<pre|<listing|white-space/i.test(html)
  if (!mayKeep && /\n\n\n/.test(text)) return 'two empty lines'
  return !mayKeep && / $/m.test(text) ? 'a space at the end of a line' : undefined
})
