import { type FormField, field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { CampaignPreview } from './preview.js'

const looks = [
  { value: 'wide', label: 'Desktop' },
  { value: 'phone', label: 'Phone' },
  { value: 'dark', label: 'Dark' },
  { value: 'text', label: 'Text' },
]

/** What stands beside the editor of a campaign: the mail as somebody sees it, and the `asked` fields of who that is. */
export const previewPart = (
  { fault, odd, mail, whose }: CampaignPreview,
  asked: readonly FormField[],
): Html => html`<section class="editor-preview" id="preview" tabindex="-1" aria-label="Preview">
${fault && html`<div class="notice bad" role="alert"><p>${fault}</p></div>`}${
  odd.length > 0 && html`<div class="notice">${odd.map((says) => html`<p>${says}</p>`)}</div>`
}${
  mail && mailPart(mail, whose)
}<fieldset class="samples"><legend>Show it as</legend>${asked.map((one) => field(one))}</fieldset>
</section>`

const mailPart = (
  { subject, snippet, clipped, size, frame, text }: NonNullable<CampaignPreview['mail']>,
  whose: string,
): Html => html`<h2>Preview</h2>
<p class="inbox-line"><b>${subject}</b> <span class="quiet">${snippet}</span></p>
<p class="quiet">As ${whose} sees it.</p>
${clipped && html`<p class="quiet">It has ${Math.round(size / 1024)} KB of HTML: Gmail cuts a mail after 102 KB.</p>`}
<div class="looks"><fieldset><legend class="hidden">Shown as</legend>${looks.map(
  ({ value, label }, at) =>
    html`<label><input type="radio" name="look" value="${value}" form="looks"${at === 0 && html` checked`}> ${label}</label>
`,
)}</fieldset>
<iframe class="mail look-light" title="The mail as HTML" src="${frame}" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>
<iframe class="mail look-dark" title="The mail on a dark screen" src="${frame}?dark=1" sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy"></iframe>
<pre class="text look-text" tabindex="0">${text}</pre>
</div>`

/** Asks for the contact whose data the preview has. */
export const askedContact = (as: string): FormField => ({
  name: 'as',
  label: 'Address of a contact',
  hint: 'Empty: somebody of whom nothing is known.',
  value: as,
  required: false,
})
