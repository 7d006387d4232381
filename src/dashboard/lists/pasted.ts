import { columnKey, emailColumns } from '../../suppression/index.js'

/** Somebody in a text that was pasted; what is no address stays as it is, and is refused with its line. */
interface PastedPerson {
  address: string
  name: string
}

/**
 * Pasted addresses as CSV: a line each, or as mail programs write recipients, `"Lee, Bob" <bob@example.com>, ann@…`. A
 * text whose first line names a column of addresses, or that comes from a spreadsheet, is CSV already.
 */
export function pastedCsv(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  // Cells of a spreadsheet have tabs between them.
  const isTable = namesColumns(lines[0] ?? '') || lines.every((line) => line.includes('\t'))
  if (isTable) return lines.join('\n')
  const people = lines.flatMap(peopleIn)
  if (people.every(({ name }) => name === '')) {
    return people.map(({ address }) => cell(address)).join('\n')
  }
  const rows = people.map(({ address, name }) => `${cell(address)},${cell(name)}`)
  return ['email,name', ...rows].join('\n')
}

const namesColumns = (line: string) =>
  line.split(/[,;\t|]/).some((one) => emailColumns.includes(columnKey(one)))

const cell = (text: string) => (/[",;\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

// RFC 5322 §3.4: a separator in quotes or angle brackets is part of a recipient. A quote that is not closed is a letter.
const piece = /(?:"[^"]*"|<[^<>]*>|[^,;\t])+/g

function peopleIn(line: string): PastedPerson[] {
  const people: PastedPerson[] = []
  // `Lee, Bob <bob@example.com>`: the comma is part of the name.
  let surname = ''
  for (const [given] of line.matchAll(piece)) {
    const text = given.trim()
    if (text === '') continue
    const [, called = '', address] = /^(.*)<([^<>]+)>$/.exec(text) ?? []
    if (address !== undefined) {
      const name = unquoted(called.trim())
      people.push({ address: address.trim(), name: surname === '' ? name : `${surname}, ${name}` })
      surname = ''
      continue
    }
    if (surname !== '') people.push({ address: surname, name: '' })
    surname = text.includes('@') ? '' : text
    if (surname !== '') continue
    const parts = text.split(/\s+/)
    // Addresses that nothing but spaces sets apart.
    const addresses = parts.every((one) => one.includes('@')) ? parts : [text]
    people.push(...addresses.map((one) => ({ address: one, name: '' })))
  }
  return surname === '' ? people : [...people, { address: surname, name: '' }]
}

const unquoted = (name: string) => /^(["'])(.*)\1$/.exec(name)?.[2]?.replace(/\\(.)/g, '$1') ?? name
