import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

/*
 * All threads write in turns, so whatever is awaited inside a write is waited for by every writer: only
 * queries of that write may be. Here that is held against every function that gets a `tx`: what it awaits
 * has the `tx` handed in, or ends in a query's `execute`.
 */
const isQuery = /\btx\b|\.execute(?:TakeFirst(?:OrThrow)?)?\(\)/

t.test('what is awaited inside a write is a query of that write', async (t) => {
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('browser/'))
    .map((name) => ({ name, ...strangers(readFileSync(`src/${name}`, 'utf8')) }))
  const functions = found.reduce((sum, { functions }) => sum + functions, 0)
  t.ok(functions > 300, `${functions} functions with a tx were read`)
  t.same(
    found.flatMap(({ name, awaits }) => awaits.map((awaited) => `src/${name}: await ${awaited}`)),
    [],
  )
})

t.test('it sees what must not be awaited', async (t) => {
  for (const [text, awaits] of [
    ['store.write(async (tx) => { await fetch(url) })', ['fetch(url)']],
    ['store.write(async (tx) => await ask(url))', ['ask(url)']],
    ['store.write(async () => { await clock.sleep(1) })', ['clock.sleep(1)']],
    [
      'store.write(async (tx) => {\n  const a = await first(tx)\n  await sleep(1)\n})',
      ['sleep(1)'],
    ],
    [
      'async function keep(\n  tx: Tx,\n): Promise<{ a: 1 }> {\n  await render(a)\n}',
      ['render(a)'],
    ],
    ['const o = { async keep(tx: Tx, one: { a: 1 }) {\n  await render(one)\n} }', ['render(one)']],
    ['write(async (tx) => { /* tx */ await render("tx") })', ['render("tx")']],
    ['write(async (tx) => { for await (const row of rows) keep(row) })', ['(const row of rows)']],
  ] as const) {
    t.same(strangers(text).awaits, awaits, text)
  }
})

t.test('it lets queries pass, and what happens outside of a write', async (t) => {
  for (const text of [
    "store.write(async (tx) => {\n  await tx\n    .insertInto('a')\n    .execute()\n})",
    'store.write((tx) => tx.deleteFrom(a).executeTakeFirstOrThrow())',
    'store.write(async (tx) => {\n  await insert(deps, tx, await prepare(tx))\n})',
    'store.write(async (tx) => {\n  for (const query of queries) await query.execute()\n})',
    'await fetch(url)\nawait store.write(async (tx) => { await land(tx) })\nawait sleep(1)',
    'async function f(tx: Tx): Promise<void> {\n  await g(tx)\n}\nawait sleep(1)',
  ]) {
    t.same(strangers(text).awaits, [], text)
  }
})

/** What functions with a `tx`, and callbacks of a write, await that is no query. */
function strangers(text: string): { functions: number; awaits: string[] } {
  const code = withoutWords(text)
  const bodies = new Map<number, number>()
  const starts = [...code.matchAll(/\btx\b|\bwrite\(\s*async \(\)/g)]
  for (const { 0: start, index } of starts) {
    const open = start === 'tx' ? openedBefore(code, index) : index + start.length - 2
    const body = bodyAfter(code, open)
    if (body !== undefined) bodies.set(...body)
  }
  const awaits = new Map<number, string>()
  for (const [from, to] of bodies) {
    // Functions that are made inside are looked into themselves.
    const made = code.slice(from, to).matchAll(/\bconst (\w+) = async \(|\bfunction (\w+)/g)
    const own = new Set([...made].map(([, arrow, named]) => arrow ?? named))
    for (const match of code.slice(from, to).matchAll(/\bawait\b\s*/g)) {
      const at = from + match.index + match[0].length
      const isLoop = /\bfor\s*$/.test(code.slice(0, from + match.index))
      const end = isLoop ? closedAfter(code, at) : expressionEnd(code, at)
      const [called = ''] = /^\w+(?=\()/.exec(code.slice(at, end)) ?? []
      if (own.has(called)) continue
      if (!isQuery.test(code.slice(at, end))) awaits.set(at, text.slice(at, end).trim())
    }
  }
  return { functions: bodies.size, awaits: [...awaits.values()] }
}

/** The text with blanks in place of comments, and of what stands in quotes and regular expressions. */
function withoutWords(text: string): string {
  const words =
    /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//gs
  return text.replace(words, (word) =>
    /^[/'"]/.test(word)
      ? word.replace(/[^\n]/g, ' ')
      : word.replace(/\$\{[^}]*\}|[^\n]/g, (part) =>
          part.startsWith('${') ? ` ${part.slice(1)}` : ' ',
        ),
  )
}

/** The bracket that is open at a place; -1 for none. */
function openedBefore(code: string, place: number): number {
  for (let at = place - 1, depth = 0; at >= 0; at--) {
    const char = code[at] ?? ''
    if (/[)\]}]/.test(char)) depth++
    else if (/[([{]/.test(char) && depth-- === 0) return at
  }
  return -1
}

/** Behind the bracket that closes the one at `open`. */
function closedAfter(code: string, open: number): number {
  for (let at = open, depth = 0; at < code.length; at++) {
    const char = code[at] ?? ''
    if (/[([{]/.test(char)) depth++
    else if (/[)\]}]/.test(char) && --depth === 0) return at + 1
  }
  return code.length
}

/** From where to where the body of a function reaches whose parameters begin at `open`. */
function bodyAfter(code: string, open: number): [from: number, to: number] | undefined {
  if (code[open] !== '(' || /\b(?:if|for|while|switch|catch)\s*$/.test(code.slice(0, open))) {
    return undefined
  }
  const behind = closedAfter(code, open)
  const [type] = /^(?:\s*:\s*\w+)?/.exec(code.slice(behind)) ?? ['']
  const typed = typeEnd(code, behind + type.length)
  const [head] = /^\s*(?:=>\s*)?/.exec(code.slice(typed)) ?? ['']
  const from = typed + head.length
  if (code[from] === '{') return [from, closedAfter(code, from)]
  return head.includes('=>') ? [from, expressionEnd(code, from)] : undefined
}

/** Behind the type arguments, if some begin here. */
function typeEnd(code: string, from: number): number {
  if (code[from] !== '<') return from
  for (let at = from, depth = 0; at < code.length; at++) {
    if (code[at] === '<') depth++
    else if (code[at] === '>' && code[at - 1] !== '=' && --depth === 0) return at + 1
  }
  return code.length
}

/** Where an expression ends: at a bracket, a comma or the line's end, unless the next line goes on with a dot. */
function expressionEnd(code: string, from: number): number {
  for (let at = from, depth = 0; at < code.length; at++) {
    const char = code[at] ?? ''
    if (/[([{]/.test(char)) depth++
    else if (/[)\]}]/.test(char) && depth-- === 0) return at
    else if (depth === 0 && /[,;]/.test(char)) return at
    else if (depth === 0 && char === '\n' && !/^\s*[.?:&|]/.test(code.slice(at))) return at
  }
  return code.length
}
