"""Phrases of login, error, consent, paywall and challenge pages in some thirty languages.

Phrases are case-folded, with straight apostrophes and single spaces. Those in `…_TITLES` are compared with the sections
of titles and headings; most others are searched for in the text of a short page. No phrase is enough by itself:
failures/detect.py combines them with other evidence. Sources are the default texts of the systems named in
failures/signatures.py and of WordPress, Drupal, TYPO3, phpBB, MediaWiki, Moodle, Keycloak and Shopify.
"""

from __future__ import annotations

from typing import Final


def _parse_phrases(text: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(phrase.strip().casefold() for phrase in text.replace("\n", "|").split("|") if phrase.strip())
    )


LOGIN_TITLES: Final = frozenset(
    _parse_phrases("""
login|log in|log-in|logon|log on|sign in|sign-in|signin|please log in|please sign in|login required|sign in required
log in or sign up|sign in or create an account|authentication required|members only|member login|user login
account login|anmelden|anmeldung|einloggen|kundenlogin|bitte anmelden|anmeldung erforderlich|nur für mitglieder
benutzeranmeldung|connexion|se connecter|connectez-vous|s'identifier|identifiez-vous|identification|authentification
connexion requise|iniciar sesión|inicio de sesión|inicia sesión|acceder|acceso|entrar|identificarse|identifícate
acceso de usuarios|iniciar sessão|fazer login|faça login|entre na sua conta|acesse sua conta|autenticação|accedi
accesso|login utente|entra|inloggen|aanmelden|log in op|logga in|inloggning|logg inn|logg på|innlogging|log ind|log på
kirjaudu|kirjaudu sisään|kirjautuminen|zaloguj się|logowanie|zaloguj|přihlášení|přihlásit se|přihlaste se|prihlásenie
prihlásiť sa|bejelentkezés|belépés|autentificare|conectare|intră în cont|вход|войти|авторизация|вход на сайт|вхід
увійти|авторизація|влез|giriş|giriş yap|oturum aç|üye girişi|σύνδεση|είσοδος|ログイン|サインイン|会員ログイン|登录
登陆|用户登录|会员登录|請登入|登入|會員登入|로그인|로그인이 필요합니다|تسجيل الدخول|الدخول|התחברות|כניסה|ورود
ورود به حساب|đăng nhập|masuk|log masuk|เข้าสู่ระบบ|लॉग इन|लॉग इन करें|prijava|prijavi se|пријава|prisijungti
prisijungimas|pieslēgties|logi sisse|sisselogimine|iniciar sessió|saioa hasi
""")
)
LOGIN_OPENINGS: Final = _parse_phrases("""
log in to|login to|sign in to|log into|sign into|anmelden bei|anmeldung bei|melden sie sich|connexion à
connectez-vous à|se connecter à|iniciar sesión en|inicia sesión en|entrar em|entre em|accedi a|inloggen bij
logga in på|zaloguj się do|вход в|войти в
""")
"""Beginnings of titles and headings of login pages."""
LOGIN_GATES: Final = _parse_phrases("""
must be logged in to view|must log in to view|must be logged in to access|must log in to access
must be logged in to see|log in to view this|log in to continue|log in to see|login to continue|login to view
log in to access|sign in to continue|sign in to view|sign in to see|sign in to access|need to log in to
need to sign in to|please log in first|please login first|you must sign in|you must log in|you are not logged in
your session has expired|this page requires you to log in|only available to registered|available to members only
you need to be logged in|log in below|please log in|please sign in|melden sie sich an, um|bitte melden sie sich an
bitte loggen sie sich ein|sie müssen sich anmelden|sie müssen angemeldet sein|sie müssen eingeloggt sein
nur für angemeldete|nur für registrierte|ihre sitzung ist abgelaufen|melde dich an, um|bitte anmelden
connectez-vous pour|vous devez être connecté|vous devez vous connecter|veuillez vous connecter
veuillez vous identifier|réservé aux membres|identifiez-vous pour|inicie sesión para|inicia sesión para
debe iniciar sesión|debes iniciar sesión|tiene que iniciar sesión|necesitas iniciar sesión|faça login para
entre para continuar|você precisa estar logado|é necessário fazer login|precisa de iniciar sessão|inicie sessão para
accedi per|effettua il login|devi effettuare l'accesso|devi essere registrato|log in om|u moet ingelogd zijn
je moet ingelogd zijn|u moet inloggen|meld je aan om|måste logga in|logga in för att|måste vara inloggad
logg inn for å|må logge inn|må være logget inn|log ind for at|skal logge ind|skal være logget ind
kirjaudu sisään nähdäksesi|sinun on kirjauduttava|zaloguj się, aby|musisz się zalogować|musisz być zalogowany
přihlaste se, abyste|musíte se přihlásit|pro zobrazení se přihlaste|be kell jelentkeznie|jelentkezz be
trebuie să fiți autentificat|autentificați-vă pentru|необходимо войти|необходимо авторизоваться|войдите, чтобы
должны быть авторизованы|требуется авторизация|авторизуйтесь|увійдіть, щоб|необхідно увійти|потрібно увійти
görmek için giriş|giriş yapmalısınız|giriş yapmanız gerek|oturum açmanız gerek|πρέπει να συνδεθείτε|συνδεθείτε για
ログインが必要|ログインしてください|ログインして続|請先登入|请先登录|请登录后|登录后查看|登录后可见|需要登录
您需要登录|登入後|로그인이 필요|로그인 후|로그인해 주|يجب تسجيل الدخول|الرجاء تسجيل الدخول|يرجى تسجيل الدخول
عليك تسجيل الدخول|יש להתחבר|עליך להתחבר|נא להתחבר|لطفا وارد شوید|باید وارد شوید|vui lòng đăng nhập|bạn cần đăng nhập
bạn phải đăng nhập|silakan masuk|anda harus masuk|silakan login|anda harus login|กรุณาเข้าสู่ระบบ|โปรดเข้าสู่ระบบ
कृपया लॉग इन|लॉग इन करना होगा
""")

NOT_FOUND_TITLES: Final = frozenset(
    _parse_phrases("""
404|404 error|error 404|error: 404|404 not found|not found|404 - not found|oops|oops!|http 404|fehler 404|erreur 404
error: not found|errore 404|erro 404|fout 404|fel 404|feil 404|fejl 404|virhe 404|błąd 404|chyba 404|hiba 404
eroare 404|ошибка 404|помилка 404|hata 404|σφάλμα 404|404エラー|404 错误|404错误|404 오류|خطأ 404|שגיאה 404|lỗi 404
no longer available|nothing found|nichts gefunden|introuvable
""")
)
NOT_FOUND: Final = _parse_phrases("""
you requested could not be found|you requested was not found|you are looking for does not exist
you are looking for could not be found|you're looking for doesn't exist|you're looking for could not be found
page not found|page cannot be found|page can't be found|page could not be found|page couldn't be found
page was not found|page does not exist|page doesn't exist|page is not available|page isn't available
page no longer exists|page has been removed|page is no longer available|we couldn't find that page
we can't find that page|couldn't find the page|can't find the page|content not found|content isn't available
article not found|product not found|post not found|file not found|document not found|item not found|listing has ended
no longer listed|nothing was found at this location|resource not found|the requested url was not found
seite nicht gefunden|seite wurde nicht gefunden|seite existiert nicht|seite konnte nicht gefunden
seite nicht verfügbar|seite ist nicht mehr|artikel nicht gefunden|produkt nicht gefunden|inhalt nicht gefunden
seite wurde leider nicht gefunden|page introuvable|page non trouvée|page n'existe pas|page n'existe plus
page est introuvable|article introuvable|contenu introuvable|produit introuvable|page demandée n'|página no encontrada
página no existe|no se encontró la página|no se ha encontrado la página|no encontramos la página
artículo no encontrado|producto no encontrado|contenido no encontrado|página não encontrada|página não existe
produto não encontrado|conteúdo não encontrado|artigo não encontrado|não encontramos a página|pagina non trovata
pagina non esiste|pagina inesistente|prodotto non trovato|contenuto non trovato|articolo non trovato
pagina niet gevonden|pagina bestaat niet|product niet gevonden|sidan hittades inte|sidan kunde inte hittas
sidan finns inte|siden ble ikke funnet|siden finnes ikke|fant ikke siden|siden blev ikke fundet|siden findes ikke
siden kunne ikke findes|sivua ei löydy|sivua ei löytynyt|sivua ei ole|nie znaleziono strony|strona nie istnieje
strona nie została znaleziona|strony nie znaleziono|stránka nenalezena|stránka nebyla nalezena|stránka neexistuje
stránka sa nenašla|oldal nem található|az oldal nem létezik|pagina nu a fost găsită|pagina nu există
страница не найдена|страница не существует|страницы не существует|товар не найден|материал не найден|статья не найдена
запись не найдена|сторінку не знайдено|сторінка не знайдена|сторінки не існує|страницата не е намерена
stranica nije pronađena|stranica ne postoji|страница није пронађена|sayfa bulunamadı|sayfa mevcut değil
ürün bulunamadı|içerik bulunamadı|η σελίδα δεν βρέθηκε|δεν βρέθηκε η σελίδα|η σελίδα δεν υπάρχει
ページが見つかりません|ページは見つかりません|ページは存在しません|ページが存在しません|お探しのページは
商品が見つかりません|記事が見つかりません|页面不存在|页面未找到|找不到页面|未找到页面|找不到该页面|页面找不到
内容不存在|文章不存在|商品不存在|頁面不存在|找不到頁面|找不到網頁|找不到您|您访问的页面|페이지를 찾을 수 없
존재하지 않는 페이지|삭제된 게시물|الصفحة غير موجودة|لم يتم العثور على الصفحة|המודעה לא נמצאה|הדף לא נמצא
העמוד לא נמצא|הדף אינו קיים|صفحه یافت نشد|صفحه پیدا نشد|صفحه مورد نظر|không tìm thấy trang|trang không tồn tại
trang bạn tìm|halaman tidak ditemukan|halaman tidak dijumpai|ไม่พบหน้า|पृष्ठ नहीं मिला|पेज नहीं मिला
no s'ha trobat la pàgina|puslapis nerastas|lapa nav atrasta|lehte ei leitud
""")
NOT_FOUND_ENDINGS: Final = _parse_phrases("""
not found|no longer available|isn't available|isn't available anymore|is not available|no longer exists|does not exist
doesn't exist|nicht gefunden|nicht mehr verfügbar|existiert nicht|introuvable|non trouvé|non trouvée
n'est plus disponible|n'existe plus|no encontrado|no encontrada|ya no está disponible|no existe|não encontrado
não encontrada|não está mais disponível|não existe|non trovato|non trovata|non è più disponibile|niet gevonden
niet meer beschikbaar|bestaat niet|hittades inte|finns inte längre|ikke funnet|ikke fundet|finnes ikke|findes ikke
ei löydy|ei löytynyt|nie znaleziono|nie istnieje|nenalezena|nenalezen|neexistuje|nem található|nu a fost găsit
nu a fost găsită|не найден|не найдена|не найдено|не существует|больше не доступен|больше не доступна|не знайдено
не існує|bulunamadı|mevcut değil|δεν βρέθηκε|δεν υπάρχει|が見つかりません|は見つかりませんでした
が見つかりませんでした|は存在しません|不存在|未找到|已下架|已失效|找不到|찾을 수 없습니다|غير موجود|غير موجودة|לא נמצא
לא נמצאה|یافت نشد|پیدا نشد|không tìm thấy|không tồn tại|tidak ditemukan|ไม่พบ|नहीं मिला
""")
"""Endings of short titles and headings that report a missing page or item."""
NOT_FOUND_READER_PHRASES: Final = _parse_phrases("""
you are looking for|you're looking for|you were looking for|you requested|you tried to|you followed|you may have
you've reached|oops|sorry|we can't find|we couldn't find|we could not find|we cannot find|looks like nothing
moved, deleted|moved or deleted|moved or removed|may have been removed|may have been moved|might have been removed
might have been moved|has been removed or|check the url|check the address|mistyped|broken link|take me home
back to home|back to the home|go to homepage|go home|return home|return to the home|nothing here|try a search
try searching|leider|gewünschte seite|gesuchte seite|aufgerufene seite|angeforderte seite|sie suchen|verschoben oder
zur startseite|désolé|que vous recherchez|que vous cherchez|que vous demandez|demandée|a été déplacée|a été supprimé
retour à l'accueil|lo sentimos|que busca|que estás buscando|que buscas|que intenta|ha sido eliminad|volver al inicio
desculpe|que você procura|que procura|você está procurando|foi removid|foi movid|voltar para a|página inicial
ci dispiace|spiacenti|che stai cercando|che cerchi|che hai richiesto|è stata rimossa|è stata spostata|torna alla home
helaas|die u zoekt|je zoekt|is verplaatst|is verwijderd|naar de homepage|tyvärr|du letar efter|du söker|har flyttats
till startsidan|beklager|du leter etter|du leder efter|desværre|er flyttet|til forsiden|valitettavasti|etsimääsi
etusivulle|przepraszamy|niestety|której szukasz|została usunięta|przeniesiona|na stronę główną|omlouváme se|bohužel
kterou hledáte|byla odstraněna|byla přesunuta|ľutujeme|ktorú hľadáte|sajnáljuk|a keresett|a kért oldal|ne pare rău
pe care o căutați|căutat|к сожалению|извините|запрашиваем|запрошенн|вы ищете|была удалена|перемещена|на главную
вы искали|на жаль|вибачте|запитуван|ви шукаєте|була видалена|на головну|за съжаление|žao nam je|koju tražite|нажалост
üzgünüz|maalesef|aradığınız|ana sayfa|λυπούμαστε|δυστυχώς|που ζητήσατε|που αναζητάτε|που ψάχνετε|αρχική σελίδα|申し訳
移動または削除|削除された|お探しの|トップページ|ホームへ|抱歉|对不起|您访问|您要找|您请求|你访问|已被删除|已删除
返回首页|對不起|您要|已被移除|返回首頁|回首頁|죄송합니다|요청하신|찾으시는|삭제되었|이동되었|홈으로|عذرا|عذرًا
التي تبحث عنها|تم حذف|الرئيسية|מצטערים|אופס|שחיפשת|שביקשת|לדף הבית|متاسفانه|متأسفانه|به دنبال|حذف شده|صفحه اصلی
xin lỗi|rất tiếc|bạn đang tìm|bạn yêu cầu|đã bị xóa|về trang chủ|maaf|yang anda cari|telah dihapus|kembali ke beranda
ขออภัย|ที่คุณ|กลับหน้าแรก|क्षमा करें|जिसे आप|आप जिस
""")
"""Phrases with which an error page addresses its reader."""
HTTP_JARGON: Final = _parse_phrases("""
status code|http status|error code|server configuration|.htaccess|web server|rfc 9110|rfc 7231|client error response
http response|statuscode|code d'état|código de estado|código de status|codice di stato|код состояния|код ответа
ステータスコード|状态码|狀態碼|상태 코드
""")
"""Terms of pages that write about HTTP."""

CONSENT_TITLES: Final = _parse_phrases("""
before you continue to|we value your privacy|your privacy choices|privacy settings|cookie consent|cookie wall|consent
your data, your experience|bevor sie|bevor du|zustimmung|ihre privatsphäre|wir schätzen ihre privatsphäre
datenschutzeinstellungen|privatsphäre-einstellungen|mit werbung weiterlesen|avant d'accéder|avant de continuer
votre vie privée|nous respectons votre vie privée|vos données|gestion des cookies|antes de ir a|antes de continuar
tu privacidad|valoramos su privacidad|su privacidad|antes de acessar|antes de avançar|a sua privacidade
sua privacidade|valorizamos sua privacidade|prima di continuare|la tua privacy|teniamo alla tua privacy
voordat je verdergaat|voordat je naar|uw privacy|jouw privacy|wij waarderen uw privacy|cookies op|innan du fortsätter
vi värnar om din integritet|før du fortsætter|før du fortsetter|vi respekterer dit privatliv|ennen kuin jatkat
arvostamme yksityisyyttäsi|zanim przejdziesz|cenimy twoją prywatność|szanujemy twoją prywatność|než budete pokračovat
vážíme si vašeho soukromí|mielőtt folytatná|înainte de a continua|прежде чем продолжить
мы ценим вашу конфиденциальность|перш ніж продовжити|devam etmeden önce|gizliliğinize önem|πριν συνεχίσετε
σεβόμαστε την ιδιωτικότητά|続行する前に|プライバシーの設定|在继续之前|继续之前|계속하기 전에|개인정보 보호
قبل المتابعة|לפני שממשיכים|trước khi tiếp tục|sebelum melanjutkan
""")
CONSENT: Final = _parse_phrases("""
accept all|reject all|accept cookies|accept and continue|agree and continue|i agree|manage preferences|manage options
cookie preferences|use cookies|uses cookies|and our partners|our partners|personalised ad|personalized ad
personalized content|personalizing content|cookies and data|cookie policy|without tracking|ad-free|legitimate interest
alle akzeptieren|alle ablehnen|akzeptieren und weiter|zustimmen und weiter|zustimmen & weiter|einwilligung
cookies und daten|verwenden cookies|unsere partner|und tracking|personalisierte|ohne tracking|pur-abo|werbefrei
datenschutzerklärung|tout accepter|accepter tout|tout refuser|refuser tout|accepter et continuer
continuer sans accepter|utilisons des cookies|nos partenaires|données personnelles|publicité personnalisée
personnaliser mes choix|aceptar todo|rechazar todo|aceptar y continuar|rechazar y suscribirse|utilizamos cookies
usamos cookies|nuestros socios|datos personales|anuncios personalizados|política de cookies|aceitar tudo|aceitar todos
rejeitar tudo|rejeitar todos|aceitar e continuar|nossos parceiros|dados pessoais|anúncios personalizados
nossos cookies|accetta tutto|rifiuta tutto|accetta e continua|rifiuta e abbonati|i nostri|partner archiv|come i cookie
dati personali|annunci e contenuti|alles accepteren|alle cookies accepteren|alles weigeren|akkoord en doorgaan
gebruiken cookies|onze partners|persoonsgegevens|gepersonaliseerde advertenties|acceptera alla|godkänn alla
avvisa alla|använder cookies|våra partners|personuppgifter|anpassade annonser|godta alle|avvis alle
bruker informasjonskapsler|våre partnere|personopplysninger|accepter alle|afvis alle|bruger cookies|vores partnere
hyväksy kaikki|hylkää kaikki|käytämme evästeitä|kumppanimme|henkilötieto|akceptuję|zaakceptuj wszystk|odrzuć wszystk
przejdź do serwisu|plików cookie|zaufani partnerzy|naszymi partnerami|danych osobowych|spersonalizowan|přijmout vše
souhlasím|odmítnout vše|soubory cookie|soubory cookies|naši partneři|osobní údaje|personalizovan|összes elfogadása
elutasít|cookie-kat|sütiket|partnereink|személyes adat|acceptă tot|respinge tot|partenerii noștri
date cu caracter personal|принять все|отклонить все|файлы cookie|наши партнеры|персональных данных|персонализированн
прийняти всі|відхилити всі|файли cookie|tümünü kabul|tümünü reddet|çerez|iş ortaklarımız|kişisel veri
kişiselleştirilmiş|αποδοχή όλων|απόρριψη όλων|cookies και|συνεργάτες μας|προσωπικά δεδομένα|συμφωνώ|すべて同意
すべて受け入れる|同意して続|すべて拒否|クッキー|cookie を使用|パートナー|パーソナライズ|全部接受|接受全部|全部拒绝
我们的合作伙伴|个性化广告|使用 cookie|使用cookie|모두 수락|모두 동의|모두 거부|쿠키를 사용|쿠키|파트너|맞춤 광고
قبول الكل|رفض الكل|ملفات تعريف الارتباط|שותפינו|קבל הכל|עוגיות|chấp nhận tất cả|từ chối tất cả|cookie và|terima semua
tolak semua|menggunakan cookie
""")
CONSENT_GATES: Final = _parse_phrases("""
before you continue|make a choice before|must make a choice|to continue to the site|to continue, please accept
accept cookies to continue|must accept cookies|choose how to continue|consent to continue|your consent to proceed
bevor sie fortfahren|bevor sie weiter|um fortzufahren, stimmen|weiter mit werbung|mit werbung weiter|mit werbung lesen
mit werbung nutzen|pour continuer,|pour accéder au site|pour poursuivre votre|avant de continuer
sans accepter, abonnez|para continuar navegando|para continuar,|aceptar o suscribirse|aceptar cookies y
para continuar a navegar|per continuare|prima di continuare|accetta o abbonati|om verder te gaan|om door te gaan
voordat je verder|för att fortsätta|innan du fortsätter|for at fortsætte|for å fortsette|jatkaaksesi|aby kontynuować
aby przejść do|pro pokračování|chcete-li pokračovat|a folytatáshoz|pentru a continua|чтобы продолжить|щоб продовжити
devam etmek için|για να συνεχίσετε|続行するには|请先同意|如需继续|계속하려면|للمتابعة|כדי להמשיך|để tiếp tục
untuk melanjutkan
""")

PAYWALL_GATES: Final = _parse_phrases("""
subscribe to continue|subscribe to read|subscribe to keep reading|subscribe to unlock|to continue reading
to keep reading|continue reading with|keep reading with|keep reading for|for subscribers only|subscribers only
for paid subscribers|for paying subscribers|exclusive to subscribers|exclusive for subscribers
available to subscribers|subscriber-only|subscriber exclusive|reserved for subscribers|already a subscriber
for members only|member-only story|members-only|become a member to|upgrade to read|upgrade to paid
start your free trial to|unlock this article|unlock the full|to read the full|read the full story
you've reached your limit|last free article|free articles left|articles remaining|sign up to read|register to continue
register to read|nur für abonnent|exklusiv für abonnent|für abonnenten|nur mit abo|jetzt weiterlesen|weiterlesen mit
weiterlesen?|um weiterzulesen|um den ganzen artikel|ganzen artikel lesen|diesen artikel lesen|vollständigen artikel
plus-artikel|registrieren und weiterlesen|bereits abonnent|jetzt freischalten|lesen sie weiter mit|réservé aux abonné
réservée aux abonné|réservés aux abonné|pour lire la suite|pour poursuivre la lecture|il vous reste|déjà abonné
abonnez-vous pour|article réservé|la suite de cet article|lire l'intégralité|para suscriptores|sólo para suscriptores
solo para suscriptores|exclusivo para suscriptores|para seguir leyendo|suscríbete para|suscríbase para
para continuar leyendo|ya eres suscriptor|contenido exclusivo|regístrate para|exclusivo para assinantes
para assinantes|assine para|para continuar lendo|continue lendo|já é assinante|já sou assinante
exclusivo para subscritores|para ler o artigo completo|conteúdo exclusivo|riservato agli abbonati|per gli abbonati
abbonati per|per continuare a leggere|sei già abbonato|contenuto riservato|leggi tutto con|continua a leggere con
alleen voor abonnees|voor abonnees|verder lezen|lees verder met|om verder te lezen|al abonnee|word abonnee
endast för prenumeranter|för prenumeranter|för att läsa vidare|läs vidare|fortsätt läsa|redan prenumerant
bli prenumerant|kun for abonnenter|for abonnenter|for å lese|les videre|allerede abonnent|for at læse|læs videre
vain tilaajille|tilaajille|jatka lukemista|oletko jo tilaaja|lukeaksesi|tylko dla prenumerator|dla prenumeratorów
dla subskrybent|czytaj dalej|aby czytać dalej|dostęp do całego|pozostało|pouze pro předplatitel|pro předplatitele
pokračování je|číst dál|předplaťte|csak előfizető|előfizetőknek|a folytatáshoz|tovább olvas|doar pentru abonați
pentru abonați|continuă lectura|только для подписчиков|доступно подписчикам|доступен подписчикам|по подписке
чтобы читать дальше|чтобы дочитать|оформите подписку|уже подписан|тільки для передплатник|для передплатників
щоб читати далі|оформіть передплату|sadece abone|abonelere özel|okumaya devam|devamını okumak için|abone olun
μόνο για συνδρομητές|για συνδρομητές|συνεχίστε την ανάγνωση|有料会員限定|会員限定|有料記事|続きをお読み|続きを読むには
この記事は有料|残り文字|購読すると|订阅后|会员专享|付费阅读|付费内容|订阅以继续|开通会员|剩余内容|成为会员|訂閱後
訂戶專屬|會員專屬|付費內容|成為會員|구독자 전용|유료 회원|유료회원|구독하고|계속 읽으려면|멤버십 전용|للمشتركين فقط
للمشتركين|اشترك لمتابعة|لمتابعة القراءة|למנויים בלבד|למנויים|להמשך קריאה|dành cho thuê bao|dành cho hội viên
để đọc tiếp|khusus pelanggan|untuk membaca selengkapnya|berlangganan untuk|เฉพาะสมาชิก|สมัครสมาชิกเพื่อ|केवल सदस्यों
आगे पढ़ने के लिए
""")

CHALLENGE_TITLES: Final = frozenset(
    _parse_phrases("""
just a moment|just a moment...|just a moment…|one moment, please|one moment, please...|please wait|please wait...
checking your browser|attention required!|security check|security checkpoint|access denied
access to this page has been denied|access to this page has been denied.|human verification|bot verification
robot check|are you a robot?|are you human?|are you a human?|verify you are human|verification required|captcha
pardon our interruption|pardon our interruption...|request rejected|request unsuccessful|request blocked|blocked
you have been blocked|sorry, you have been blocked|ddos-guard|ddos protection|vercel security checkpoint
making sure you're not a bot!|bot check|client challenge|validate captcha|radware captcha page|robot or human?
unusual traffic|verifying your browser|browser check|challenge validation|nur einen moment|nur einen moment…
nur einen moment...|einen moment bitte|sicherheitsüberprüfung|sicherheitsprüfung|zugriff verweigert
bist du ein mensch?|sind sie ein mensch?|un instant|un instant…|un instant...|vérification de sécurité|accès refusé
êtes-vous un robot ?|un momento|un momento…|un momento...|acceso denegado|verificación de seguridad
comprobación de seguridad|¿eres un robot?|um momento|um momento…|um momento...|acesso negado|verificação de segurança
accesso negato|ci siamo quasi|ci siamo quasi…|controllo di sicurezza|een moment|een moment geduld|even geduld
toegang geweigerd|beveiligingscontrole|ett ögonblick|säkerhetskontroll|et øjeblik|vent litt|hetkinen|turvatarkistus
chwileczkę|odmowa dostępu|weryfikacja|okamžik|okamžik prosím|přístup odepřen|pillanat|un moment|один момент
одну минуту|подождите|подождите...|проверка браузера|проверка безопасности|доступ запрещен|доступ ограничен|ой!
вы не робот?|зачекайте|хвилинку|перевірка безпеки|bir dakika|bir dakika lütfen|erişim engellendi|güvenlik doğrulaması
μια στιγμή|少々お待ちください|少々お待ちください…|しばらくお待ちください|しばらくお待ちください...|アクセス拒否
ロボットではありませんか|请稍候|请稍候…|请稍候...|安全验证|人机验证|百度安全验证|访问验证|验证码|請稍候|安全驗證
安全检查|人機驗證|잠시만 기다려|잠시만 기다리십시오|잠시만 기다려 주세요|보안 확인|접근이 차단|لحظة|لحظة…
التحقق الأمني|רק רגע|רק רגע…|کمی صبر کنید|chờ một chút|xác minh bảo mật|tunggu sebentar|รอสักครู่|एक क्षण
""")
)
CHALLENGE: Final = _parse_phrases("""
verify you are human|verify that you are human|verify you're human|confirm you are human|confirm you are a human
confirm that you are human|not a robot|not a bot|and not a bot|are a robot|you are a human|you are human
prove you're human|prove that you are human|check if you are a human|checking your browser
checking if the site connection is secure|checking the site connection|review the security of your connection
security of your connection|enable javascript and cookies to continue|unusual traffic|automated requests
automated access|automated queries|suspicious activity|malicious bots|bot traffic|complete the captcha
solve the captcha|enter the characters you see|complete the security check|ddos protection by
performance & security by cloudflare|performance and security by cloudflare|cloudflare ray id|ray id:|reference id
incident id|support id|errors.edgesuite.net|blocked by network security|you have been blocked|block id
protected by anubis|set up anubis|please enable js and disable any ad blocker|verifying your browser|we're verifying
made us think you were a bot|made us think that you are a bot|press & hold|kein roboter|kein bot|ein mensch sind
mensch und kein|sicherheit ihrer verbindung|ob die verbindung sicher|ungewöhnlichen datenverkehr
ihr browser wird überprüft|überprüfen ihren browser|automatisierte anfragen|pas un robot|êtes un humain|êtes humain
sécurité de votre connexion|trafic inhabituel|vérification de votre navigateur|activité inhabituelle|no eres un robot
no es un robot|que eres humano|que es humano|eres un ser humano|seguridad de su conexión|seguridad de tu conexión
tráfico inusual|comprobando su navegador|verificando tu navegador|não é um robô|não é um robo|que você é humano
é um ser humano|segurança da sua conexão|segurança da conexão|tráfego incomum|verificando seu navegador
non sei un robot|non un robot|che sei umano|sei un essere umano|sicurezza della connessione|traffico insolito
traffico anomalo|geen robot|een mens bent|beveiliging van uw verbinding|ongewoon verkeer|ongebruikelijk verkeer
inte är en robot|inte en robot|är en människa|säkerheten för din anslutning|ovanlig trafik|ikke er en robot
ikke en robot|et menneske|usædvanlig trafik|uvanlig trafikk|et ole robotti|olet ihminen|epätavallista liikennettä
nie jesteś robotem|jesteś człowiekiem|bezpieczeństwo połączenia|nietypowy ruch|sprawdzanie przeglądarki|nejste robot
jste člověk|zabezpečení vašeho připojení|neobvyklý provoz|kontrola prohlížeče|nem robot|ön ember|szokatlan forgalm
nu sunteți robot|nu ești robot|trafic neobișnuit|не робот|вы человек|безопасность вашего|безопасность подключения
проверка браузера|проверка вашего браузера|подозрительный трафик|необычный трафик|автоматические запросы
запросы, отправленные роботом|ви людина|перевірка браузера|незвичний трафік|robot olmadığınız|insan olduğunuz
bağlantınızın güvenliği|olağandışı trafik|tarayıcınız kontrol|δεν είστε ρομπότ|είστε άνθρωπος|ασυνήθιστη κίνηση
ロボットではない|ロボットでない|人間であること|接続のセキュリティ|通常と異なるトラフィック|ブラウザを確認
ブラウザをチェック|不是机器人|您是真人|是真人|人机身份验证|连接的安全性|异常流量|正在检查您的浏览器|请完成验证
请完成安全验证|拖动滑块|访问过于频繁|不是機器人|您是人類|連線的安全性|異常流量|로봇이 아닙|사람인지 확인|사람임을
연결의 보안|비정상적인 트래픽|브라우저를 확인|لست روبوت|أنك إنسان|أمان الاتصال|حركة مرور غير|אינך רובוט|אתה אדם
אבטחת החיבור|תעבורה חריגה|ربات نیستید|انسان هستید|không phải là robot|bạn là con người|lưu lượng truy cập bất thường
bukan robot|anda manusia|lalu lintas yang tidak biasa|ไม่ใช่โปรแกรมอัตโนมัติ|ไม่ใช่หุ่นยนต์|คุณเป็นมนุษย์|रोबोट नहीं
""")
