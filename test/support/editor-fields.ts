import { type DefaultTreeAdapterMap, parse } from 'parse5'

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

/**
 * What a browser would send of a page's editor: the present value of each field; of several with one name the last.
 */
export const fieldsOf = (page: string): Record<string, string> =>
  Object.fromEntries(entriesOf(page))

/** The same with all fields of one name. */
export function entriesOf(page: string): [name: string, value: string][] {
  const fields: [string, string][] = []
  const attribute = (element: Element, name: string) =>
    element.attrs.find((one) => one.name === name)?.value
  const textOf = (element: Element) =>
    element.childNodes.map((one) => ('value' in one ? one.value : '')).join('')
  const visit = (node: Node, inForm: boolean) => {
    const element = 'attrs' in node ? node : undefined
    const within = inForm || (element !== undefined && attribute(element, 'id') === 'editor')
    const name = element && attribute(element, 'name')
    if (within && element !== undefined && name !== undefined) {
      const ticked = attribute(element, 'checked') !== undefined
      const kind = attribute(element, 'type')
      if (element.tagName === 'textarea')
        fields.push([name, textOf(element).replace(/^\n/, '').replace(/\r?\n/g, '\r\n')])
      else if (element.tagName === 'select') {
        const options = element.childNodes.filter((one): one is Element => 'attrs' in one)
        const chosen = options.find((one) => attribute(one, 'selected') !== undefined)
        const sent = chosen ?? (options[0] as Element)
        fields.push([name, attribute(sent, 'value') ?? textOf(sent)])
      } else if (element.tagName === 'input' && (kind !== 'checkbox' || ticked) && kind !== 'radio')
        fields.push([
          name,
          sentBy(attribute(element, 'value') ?? (kind === 'checkbox' ? 'on' : ''), kind),
        ])
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, within)
  }
  visit(parse(page), false)
  return fields
}

/**
 * HTML §4.10.5.1.2: a browser removes line ends from a text of one line; in a hidden field it sends them as CR LF.
 */
const sentBy = (value: string, kind: string | undefined) =>
  kind === 'hidden' ? value.replace(/\r?\n/g, '\r\n') : value.replace(/[\r\n]/g, '')
