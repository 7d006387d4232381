import type { FormWords } from './words.js'

export const spanish: FormWords = {
  language: 'es',
  email: 'Correo electrónico',
  firstName: 'Nombre',
  lastName: 'Apellido',
  topics: '¿Qué desea recibir?',
  choose: 'Elija',
  optional: 'opcional',
  submit: 'Suscribirse',
  missing: 'Rellene este campo.',
  noChoice: 'Elija una de estas opciones:',
  noNumber: 'Esto no es un número, como 12.',
  noDate: 'Esto no es una fecha, como 2026-12-24.',
  noAddress: 'Escriba una dirección de correo, como ada@example.com.',
  tooLong: 'Es demasiado largo.',
  consent: 'Quiero recibir el boletín. Puedo darme de baja en cualquier momento.',
  agree: 'Marque esta casilla para suscribirse.',
  working: 'Un momento: su navegador está comprobando el formulario…',
  noScript:
    'Sin JavaScript este formulario solo admite a pocas personas por hora en este momento. Permítalo para esta página si puede.',
  check: {
    title: 'Pulse el botón',
    line: 'Demuestra que una persona envió este formulario.',
    again: 'Ha sido más rápido que una persona. Púlselo una vez más.',
    button: 'Sí, suscribirme',
  },
  sent: {
    title: 'Un clic más: mire su correo',
    lines: [
      'Si todo está en orden, llega un correo con un enlace, casi siempre en unos minutos. Solo con ese enlace queda suscrito.',
      '¿No hay nada? Mire en la carpeta de correo no deseado. Si mañana tampoco hay nada, rellene el formulario de nuevo.',
    ],
  },
  confirm: {
    title: () => 'Un clic más',
    line: (account) => `Pulse el botón para recibir los correos de ${account}.`,
    button: 'Confirmar',
  },
  confirmed: {
    title: 'Está suscrito',
    line: (account) => `Gracias. Desde ahora recibe los correos de ${account}.`,
  },
  lapsed: {
    title: 'Por ahora no recibe correos',
    line: (account) =>
      `Esta dirección está confirmada, pero ya no tiene efecto: desde entonces se dio de baja de ${account}, o aquello a lo que se suscribió ya no existe.`,
    again: 'Rellenar el formulario de nuevo',
  },
  later: {
    title: 'Inténtelo más tarde',
    line: 'Ahora no se pudo completar. El enlace sigue siendo válido; pulse el botón de nuevo más tarde.',
  },
  gone: {
    title: 'Este enlace ya no funciona',
    lines: [
      'Se cortó o tiene más de siete días.',
      'Rellene el formulario de nuevo si desea recibir los correos.',
    ],
  },
  closed: {
    title: 'Este formulario no admite a nadie por ahora',
    lines: [
      'Lo que se rellena aquí no se guarda por ahora, y no se envía ningún correo.',
      'Vuelva más tarde y rellénelo entonces. Un enlace que ya haya recibido por correo sigue siendo válido.',
    ],
  },
  noForm: {
    title: 'Aquí no existe ese formulario',
    lines: [
      'Su dirección está incompleta o el formulario se ha retirado.',
      'Pida la dirección correcta a quien se la dio.',
    ],
  },
  mail: {
    subject: (account) => `Confirme: correos de ${account}`,
    reminder: (account) => `Falta confirmar: correos de ${account}`,
    line: (account) =>
      `Alguien, esperamos que usted, suscribió esta dirección a los correos de ${account}. Confirme que fue usted:`,
    button: 'Confirmar',
    ignore: '¿No fue usted? No haga nada: no recibirá correos.',
  },
}
