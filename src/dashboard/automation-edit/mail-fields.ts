import type { StepDefinition } from '../../automations/index.js'
import { maxHeaders, maxReplyTo } from '../../emails/index.js'
import { type Html, html } from '../shell/html.js'
import { mailGallery } from './mail-gallery.js'
import type { StepChoices } from './step-choices.js'
import { one, showsFor } from './step-field.js'
import { headerLines, linesOf } from './typed-lines.js'

/** What a sending step says about its mail. */
export type MailConfig = Extract<StepDefinition, { type: 'send_email' }>['config']

interface MailOptions {
  choices: StepChoices
  change: string
  preview?: Html | undefined
  domains: string
  base: string
}

/** What a mail is made of, and for whom. */
export function mailFields(
  config: MailConfig,
  { choices, change, preview, domains, base }: MailOptions,
): Html {
  const { template, replyTo = '', variables = {}, headers = {}, templateVersion } = config
  const known = choices.templates.some(({ value }) => value === template)
  const templates = [
    { value: '', label: 'Choose one' },
    ...choices.templates,
    ...(known || template === ''
      ? []
      : [{ value: template, label: `${template} (there is none)` }]),
  ]
  return html`${one({
    name: 'template',
    label: 'Template',
    hint:
      templateVersion === undefined
        ? 'Its newest version is sent, so that what you mend reaches everybody.'
        : `Version ${templateVersion} of it is sent, as the API has it here.`,
    type: 'select',
    value: template,
    options: templates,
  })}
${mailGallery(choices, { base, change, isOpen: template === '' })}${showsFor('template', change, 'Show it')}${preview}
${one({ name: 'from', label: 'From', hint: domains === '' ? 'An address on a verified domain; there is none yet.' : `On one of your domains: ${domains}.`, value: config.from, autocomplete: 'off' })}
${one({ name: 'subject', label: 'Subject', hint: 'Empty: that of the template. One line of at most 998 letters, fewer where they are not Latin.', value: config.subject ?? '', maxlength: 998, required: false })}
${one({
  name: 'kind',
  label: 'What kind of mail',
  hint: 'News needs a marketing plan and has a way to unsubscribe; one person gets at most 100 mails each time they are in it.',
  type: 'select',
  value: config.type ?? 'marketing',
  options: [
    { value: 'marketing', label: 'News: only to those who want it' },
    { value: 'transactional', label: 'Something they must know, such as an order' },
  ],
})}
${one({ name: 'topicId', label: 'Topic', hint: 'Who has left it is passed over, and goes on.', type: 'select', value: config.topicId ?? '', options: [{ value: '', label: 'None' }, ...choices.topics] })}
${one({ name: 'replyTo', label: 'Answers go to', hint: `Empty: to the sender. At most ${maxReplyTo} addresses, with commas.`, value: [replyTo].flat().join(', '), required: false })}
<details${Object.keys({ ...variables, ...headers }).length > 0 && html` open`}><summary>What the mail is filled in with, and headers</summary>${one({ name: 'variables', label: 'What the mail is filled in with', hint: 'A line each, such as: code = SPRING. {{ trigger.total }} is what began it; names and fields of contacts are there already, as in a campaign. 16 KiB at most.', type: 'textarea', rows: 4, value: linesOf(variables), required: false })}${one({ name: 'headers', label: 'Headers', hint: `For programs that read the mail. A line each, such as: X-Shop: spring. At most ${maxHeaders}, each of 4 KiB, and 16 KiB together.`, type: 'textarea', rows: 2, value: headerLines(headers), required: false })}</details>`
}
