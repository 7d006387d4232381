import { escapeHtml } from '../../mime/index.js'

/** Text that is HTML already, made by `html`: views and parts write it as it is, and escape all else. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text
  }
}

/** What `html` takes in its places. */
export type HtmlContent = Html | string | number | undefined | false | readonly HtmlContent[]

/** HTML with values put in: a value is escaped unless `html` made it; nothing stands for undefined and false. */
export function html(parts: TemplateStringsArray, ...values: HtmlContent[]): Html {
  let text = parts[0] ?? ''
  for (const [index, value] of values.entries()) text += written(value) + (parts[index + 1] ?? '')
  return new Html(text)
}

/** What a view writes with `<%= %>`. */
export function written(value: unknown): string {
  if (value instanceof Html) return value.text
  if (value === undefined || value === null || value === false) return ''
  if (Array.isArray(value)) return value.map(written).join('')
  // Quotes too: values stand within attributes. HTML §13.1.2.3: nothing else ends a quoted attribute.
  return escapeHtml(String(value))
}
