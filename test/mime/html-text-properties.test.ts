import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import t from 'tap'
import { textOfHtml } from '../../src/mime/index.js'
import { pick, type Random, randomOf } from '../fuzz/driver.js'
import { thoroughly } from '../support/thorough.js'

type Node = DefaultTreeAdapterTypes.Node

/** Pages of nested elements, each of whose words there is once; some of them hidden, many without their end tags. */
function page(random: Random): string {
  let words = 0
  const word = () => `w${words++}x`
  const text = () => {
    const space = pick(random, [' ', '\n  ', '', '&nbsp;', '\t'])
    return Array.from({ length: 1 + random(4) }, word).join(pick(random, [' ', '\n', '  '])) + space
  }
  const attributes = () =>
    pick(random, [
      ...Array.from({ length: 40 }, () => ''),
      ' class="a b"',
      " title='a > b'",
      ' style="color:red;font-size:12px"',
      ' hidden',
      ' style="display:none"',
      " style='color:red; Visibility : hidden'",
      ' style=max-height:0;overflow:hidden',
      ' style="display:block"',
      ' data-skip-in-text="true"',
    ])
  const end = (name: string, mayLack: boolean) => (mayLack && random(3) === 0 ? '' : `</${name}>`)
  const inline = (depth: number): string => {
    if (depth === 0 || random(3) === 0) return text()
    const name = pick(random, ['span', 'b', 'i', 'em', 'font', 'code', 'u', 'label', 'x-y'])
    return `<${name}${attributes()}>${inline(depth - 1)}</${name}>${random(2) ? text() : ''}`
  }
  const link = () =>
    `<a href="${pick(random, ['https://x.test/?a=1&amp;b=2', '#', 'mailto:a@b.test'])}"${attributes()}>${inline(1)}</a>`
  const row = (depth: number) =>
    `<tr${attributes()}>${many(3, () => `<td${attributes()}>${block(depth - 1)}${end('td', true)}`)}${end('tr', true)}`
  const many = (most: number, make: () => string) =>
    Array.from({ length: 1 + random(most) }, make).join(pick(random, ['', '\n    ']))
  const block = (depth: number): string => {
    if (depth <= 0) return inline(2)
    switch (random(9)) {
      case 0:
        return many(3, () => `<p${attributes()}>${inline(2)}${link()}${end('p', true)}`)
      case 1: {
        const list = pick(random, ['ul', 'ol'])
        const item = () => `<li${attributes()}>${block(depth - 1)}${end('li', true)}`
        return `<${list}>${many(4, item)}</${list}>`
      }
      case 2:
        return `<table${attributes()}><tbody>${many(3, () => row(depth))}</tbody></table>`
      case 3:
        return `<h${1 + random(6)}>${inline(2)}</h1>`.replace(
          /<h(\d)>(.*)<\/h1>$/s,
          '<h$1>$2</h$1>',
        )
      case 4:
        return `<!--[if mso]>${word()}<![endif]--><!-- ${word()} > -- -->${inline(2)}<br><hr>`
      case 5:
        return `<blockquote${attributes()}>${block(depth - 1)}</blockquote>`
      case 6:
        return `<style>.c{color:red}</style><script>if (1<2) "${word()}"</script>${text()}</section></span>`
      case 7:
        return `<dl><dt>${text()}<dd${attributes()}>${block(depth - 1)}</dl>`
      default: {
        const name = pick(random, ['div', 'center', 'section', 'article'])
        return `<${name}${attributes()}>${many(3, () => block(depth - 1))}</${name}>`
      }
    }
  }
  return `<!DOCTYPE html><html><head><title>${word()}</title></head><body>${many(4, () => block(4))}</body></html>`
}

/** The words that a browser would show, by another parser. */
function seenBy(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value
  if (['script', 'style', 'title', 'template'].includes(node.nodeName)) return ''
  if (!('childNodes' in node)) return ''
  if ('attrs' in node) {
    const of = (name: string) => node.attrs.find((one) => one.name === name)?.value
    const style = of('style')?.toLowerCase().replace(/\s/g, '') ?? ''
    const isHidden =
      /display:none|visibility:hidden/.test(style) ||
      /max-height:0.*overflow:hidden/.test(style) ||
      of('hidden') !== undefined ||
      of('data-skip-in-text') !== undefined
    if (isHidden) return ''
  }
  return node.childNodes.map(seenBy).join('')
}

const wordsOf = (text: string) => text.match(/w\d+x/g) ?? []

t.test('each word that is shown is there once, in its order', async (t) => {
  let shown = 0
  let hidden = 0
  for (let round = 0; round < thoroughly(200, 5_000); round++) {
    const html = page(randomOf(round, 40))
    const expected = wordsOf(seenBy(parse(html)))
    const { text } = textOfHtml(html)
    shown += expected.length
    hidden += wordsOf(html).length - expected.length
    const found = wordsOf(text)
    const at = found.findIndex((word, i) => word !== expected[i])
    const around = (words: string[]) => (at < 0 ? words : words.slice(at)).slice(0, 5).join()
    if (found.join() !== expected.join()) {
      return void t.equal(around(found), around(expected), `${round}: ${html}`)
    }
    const faulty = text
      .split('\n')
      .find((line) => / $/.test(line) || (line.length > 76 && / w\d+x/.test(line.slice(76))))
    if (faulty !== undefined || /\n\n\n|^\n|\n$/.test(text)) {
      return void t.fail(`${round}: ${faulty}\n${text}`)
    }
  }
  t.ok(shown > 2_000 && hidden > 500, `${shown} words shown, ${hidden} hidden`)
})
