"""What pieces of text weigh, and words that common vocabularies hold whole. Written by benchmarks/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {
    "1 bytes": (1000, 0),
    "2 bytes": (1500, 0),
    "3 bytes": (2148, 0),
    "4 bytes": (3000, 0),
    "Arabic": (440, 440),
    "CJK signs": (1894, 1521),
    "Cyrillic": (1786, 68),
    "Devanagari": (1941, 443),
    "Greek": (435, 435),
    "Han": (820, 820),
    "Hangul": (670, 670),
    "Hebrew": (0, 0),
    "Hiragana": (1266, 360),
    "Katakana": (940, 634),
    "Thai": (495, 495),
    "accents": (0, 1422),
    "capital": (0, 0),
    "capitals": (2892, 0),
    "digits": (1159, 0),
    "known word": (950, 0),
    "newlines": (805, 0),
    "repeated sign": (0, 0),
    "short word": (811, 0),
    "signs": (721, 167),
    "space": (1038, 0),
    "spaces": (425, 0),
    "tabs": (960, 0),
    "word": (1394, 292),
}
"""Thousandths of a token: of a piece, and of each more."""

WORDS: Final = frozenset(
    """
    aan abc aber able abort about above abs absent absolute abstract aby acc accept accepted accepting access
    accessed according accum acest across action actions activate activated active actual actually ada adaptive add
    added adding addition additional additionally addr address addresses addressing adds aden adjacent adres
    advanced affected affects after afterwards again against age alan ale algorithm algorithms alias aliases align
    aligned alignment all alla alle allocated allocator allow allowance allowed allowing allows alma alo alone
    along alpha already als also alt alte alternative alternatively altri always amd amor amount analysis analyze
    ancak anche anchor and andere anderen andra anlam annotation annual another answer anterior antes anv any
    anything anywhere apa ape apenas api app appear appears append appended appendix apple applicable application
    applications applied applies apply appropriate approximation apr apt aras arbitrary archives are area areas
    arena arg argparse args argument arguments argv arithmetic around arp arr arrange array arrays arrow art
    article ascending ascii asked assert asset assign assigned assistants associated assume assumed assumes ast
    async asynchronous atomic att attempt attempts attr attribute attributes attrs auch audio auf aus aussi author
    auto autom automatic automatically autre autres aux available ave avec average avere avez avg avoid avoir await
    away ayn back background backup backward backwards bad bak bal balance band bar bas base based basename bases
    basic basis batch baz beans because become becomes been before begin beginning beh behave behaves behavior
    behaviour bei being belong belongs below ben ber best beta better between beware bez bias bien big bij bilgi
    bin binary bios bir birthday bit bitmap bits blank blanks blo blob block blocking blocks blue bob body book
    books bool boolean boot border bos bot both bottom bound boundary box boxes brackets branch branches break
    breakpoint breaks broad browser bude buf buffer bug bugs build built builtin bulunan bulundu but button buttons
    bye byte bytes cache cached caches caching cada cal calc calculate calculated calculates calculation
    calculations calendar california call callable callback callbacks called caller callers calling calls can candy
    cannot capabilities capitalize caps care carefully cascade case cases cash caso catalog catalogs catch
    categories category cause cell cells center certain ces cette cfg chain challenge change changed changes
    changing channel channels chapter char character characters chars charset chart charts chat che check checkbox
    checked checking checks checksum chi child chinese cho choice choices choose chosen chu chunk chunks cinnamon
    class classes clause clear cleared click clicked clicking client clients clipboard close closed closes closing
    closure cls cmd cmp code codes col collect collection collections colon color colors colspan column columns com
    comando combination combined combo come comes comma command commande commands comme comment comments commit
    common como comp compact compare compared comparing comparison comparisons compatibility compatible compile
    compiled compiler complete completion complex complicated component components composite comprehension compress
    compressed compression compressor comps compute computed computer computes con cond condition conditional
    conditions conf config configur configuration configure configured confirm conflict conflicting conflicts
    connect connected connecting connection consent consider considered consist consisting consists console const
    constant constants constitute constrain constraint constructor consulta consume contain contained container
    containing contains content contents context contiene continuation continue contract contrib control controls
    conv conversion convert converted converter converts coordinate coordinates copied copies copy copyright core
    corner coroutine correct correctly correo correspond corresponding corresponds cosa cost could count counted
    counter counting country counts coupon course crate cre crear create created creates creating criteria
    criterion critical cross css csv ctrl ctx cualquier cuando cuenta cui cum cumulative cur currency current
    currently cursor curve custom customization customize cut cutoff cyber cycle cycles cylinder czy dac daha daily
    dal dall dan dane dans danych dar das dass dat data database databases datatype date dates datetime david day
    daylight days deal deber debug debugging dec decide decimal decimals declaration declarations declared decode
    decoded decoder decorator deep def default defaults define defined defines defining definition definitions
    degree degrees dei del delete deleted deletes delim delimiter dell della delle delta dem den density dent
    depend dependencies dependent depending depends deprecated depreciation depth deque der derived des descending
    descr describe described describes description desde design designate desired desktop despre dest deste
    destination det detail detailed details detected determine determined determines dev deve developer development
    deviation device devices deze dialog dialogs dict dictionary didn die dies diese dieses diff differ difference
    differences different digit digits dimensional din dir direct direction directive directives directly
    directories directory direkt dirname dirs dis disable disabled disc discard discarded disco disk disks dispatch
    dispatcher display displayed displays dispon disponible disponibles dispose disposition dispositivo distance
    distinct distribute distribution dit division django dla dne dni doc docs document documentation documented
    documento documents does doesn doing dokument dollar domain don done donn door dos dost dot double down
    download drag draw drawing drive driver drop due dummy dump dup duplicate dur durante duration during durumda
    dzi dzie each early easier easiest easily echo eden eder edge edges edilir edit editing edu een efekt effect
    effective efficient efter ego eigen ein eine einem einen einer either ejemplo ekran elde elem element elements
    elif eller else elsewhere elt email embedded embedding embeddings emitted emptied empty enable enabled enables
    enc enclosed encode encoded encoder encoding encontrar encounters end ende endian endif ending endpoints ends
    engine english enhanced enough ensure ent enter entered entering entire entre entries entry enum enumerate env
    environ environment eos epub equal equals equivalent err errno error errors escape escaped espa espacio essere
    est esta established estar estas este estimate estimated esto etc ethernet etkin ett euro eval evaluation even
    event events every everything evitar exact exactly example examples exc excel except exception exceptions
    exchange exclusive exe exec executable execute executed executes execution exemple exemplo exist existing
    exists exit exits exp expanded expect expected expert expires explains explanations explicit exploitation
    exponent export exported exports exposed expr expressed expression expressions ext extend extended extends
    extension extensions extern external extra extract eye face factor factory fail failed fails failure faire faiz
    fakat fall fallback falls false familiar family far fare fast faster faut favicon fazer fazla feature features
    fetch few fichier fiction fie field fields fifo figure fil file filename filenames files filesystem fill filter
    filters final finally find finden finder fine finished finns first fit five fix fixed fiyat flag flags flat
    float floating flush fmt fname focus fold folder folders follow followed following follows foo for force forge
    form forma format formats formatted formatter formatting forms formula formulas forward fost found foundation
    four fourth fraction fragment frame frames free freedom frequency from front frozen fruit fruits full fullname
    fully func function functionality functions functools funny further future garbage gateway gdy gdzie geen gelen
    gen genel general generally generate generated generation generator generators generic genom geography geometry
    ger gerekir geri german get getattr getopt gets getter gettext getting gibi gibt gider git github give given
    gives giving global globals going good gor got gran grande graph graphic graphical graphics greater green grep
    group grouping groups guess guests guide guidelines gym gzip haben hace had hai half hand handle handled
    handler handling hanno happen happens har hard hardware harmony has hasattr hash hashlib hat have having hay
    head header headers heading headings heads heap hebben heeft height help helper helpful hem hence her here
    herhangi hesap het hexadecimal hidden hide hides hierarchy higher highlight highlighting history hit hold
    holders holding holds home hook hooks horizontal host hostname hour how however href html http https human
    hundred hyperlink hypothesis icon idea identical identified identifier identifies identify idx iff ignore
    ignored ignores ignoring iki ikinci ile ilgili ili ilk illegal image imagem imagen images imaginary immediately
    imp impl implement implementation implemented implicit implies import important importante imported importer
    importing impress include included includes including inclusion incoming incomplete inde indent index indexes
    indexing indicate indicated indicates indicating indices individual ine inf infile inflate info informatie
    information informations ini iniciar inicio init initial initialization initialize initialized inline inner inp
    inplace input inputs insert inserted inserting inserts inside inspect inst instal install installation
    installations installed installer instance instances instead instr instruct instruction instructions int inte
    integer integers integral integrity intended interactive interest interface interfaces internal international
    internet interp interpolation interpreted interpreter interval into invalid invariant inverse investment
    invited invocation invoke invoked ipv irq ise isinstance isn iso issue issues ist istedi item items iter
    iterable iteration iterator its itself jak jako japanese java javax jean jeden jedn jej jest join journal jpeg
    jpg json jsou jump junk just kadar kan kann kar karakter kart kaz keep ken kept kernel key keyboard keyed
    keynote keys keyword keywords kez khi kin kind klar know knowledge known kod kom kommer kter kullan kunnen kunt
    kwargs label labels lambda lan lang language languages lar large larger largest las last lat late latency later
    latest latin latter layout lead leading learn least leave left legacy legend len length ler les less let letter
    letters lev level levels lib liber libero libraries library libre libs license licenses life ligne lik like
    likely limit limitations limited limits lin line linear lines linh linha link linkage linked links linux list
    lista liste listed lists lite literal literals little live livre llama load loaded loader loading loc local
    locale localized locals located location locations lock locked log logging logical login long longer longest
    look looked looks lookup loop los low lower lowercase lowest lub luk maar machine macro macros made mai mail
    mailbox mailing main maintain mais maj mak make maken maker makes making mal man management manager manifest
    manual manually many map mapping maps mare mark markdown marked marker markers marks markup marshal mas master
    mat match matched matcher matches matching math matrix matter maturity max maximize maximum may maybe mayor
    mean meaning meaningful means mechanism med media medium meer mehr mek mem member members memoria memory men
    menu menus mer merge merges mes mesmo message messages met meta metavar meters method methods metod metros
    mevcut microsoft middle might min mini minimal minimize minimum minor minus minute missing mit mixed mod mode
    model models modem moderation modificar modification modified modifier modify modo module modules moet moeten
    mog mogelijk moment mon monetary month months more most motto mouse move moved moves moving msg much muito
    multi multipart multiple muss must mut mutable mutex mutually naar nach nag nale name named names namespace
    naming nan nano nargs nas nast nat native navigator nebo necess necessary need needed needle needs negative
    neither nel nella nem nen ner nested net network never new newline news next nga nicht nie niet nil nine niveau
    noch node nodes nombre nome nominal non none nor norm normal normalize normally nos nost not nota notation note
    notes nothing notice nous now null num number numbered numbering numbers numer numeral numeric numerical numero
    nur nutzen oasis oben obj object objects obs obtained occupy occur occurred occurs och odd oder odp off office
    offset offsets often ogni okres olabilir olan olarak old older oldu olmayan olur omitted once one ones online
    only ont ook opcode open opened opening opens operand operating operation operations operator operators ops opt
    optical optimization optimize option optional optionally options opts oran orange oraz order ordered ordering
    ordinal org organization orig origin original oss other others otherwise otros ott our out outcome outfile
    outgoing outline output outputs outside over overflow overhead overridden override overview overwrite
    overwritten own owner pack package packages pad page pages pagina paid pair pairs palm par para paragraph
    paragraphs parallel param parameter parameters params parent parentheses parse parsed parser parsing part parte
    parti partial partially particular partir partition partitions parts party pas pass passed passes passing
    password paste pat patch path pathname paths pattern patterns payment payments pdb pdf pending pentru people
    per percent percentage perfect perform performance performed period periodic periods permission permissions
    permite pero person personal peut peuvent phase php phrase pick pid pivot pixels pkg plaats place placed
    placeholder placeholders places plain plan planner plasma platform play please plist plural plus pne png poate
    pocket pod pode podem poder point pointer pointers points pokud pole policies policy poll polygon pomoc pop
    popular population por port portable portion pos posible position positional positioned positions positive poss
    possibile possibilities possible possibly possono post pot pou pour pouvez pouze pow power pozn pprint ppt pre
    precedence preceding predecessors predefined predicted prefer prefix prefixes pregunta prepare present
    presentation preset press pressing pretty prev prevent preview previous previously price prim prima primary
    primitive prin print printable printed printer printf printing prints prior priority private pro probability
    probably probe problem proc process processed processes processing produce produced producer produces product
    profile profiler profiling prog program programa programas programma programmes programming programs programu
    progress project prompt prop properties property proprio protect protected proto protocol provide provided
    provides proxies proxy prze przed przez przy pub public publisher puede pueden pull punctuation purchase pure
    purposes push put pute python qua quando que queries query quest questa question questions questo queue qui
    quick quickly quiet quit quite quitting quotation quote quoted quotes quy radix raise raised raises rak random
    range ranges rank ranks ras rate rather ratio raw reaches read readable reading readline readonly ready real
    really realtime reason reasoning received recent recognized recommended record records rectangular recursion
    recursive recursively red rede redemption redirect reduce ref refer reference referenced references referred
    refers refs reg regardless regex region register registered registry regression regular rej rek related
    relation relative release releases relevant remain remainder remaining remains remote removable remove removed
    removes ren rename render rep repeat replace replaced replacement report reported reports repository repr
    represent representation represented representing represents request requested require required requires res
    research reserved reset resize resizing resolve resolved resource resources resp respect respective
    respectively response responses rest restore restriction result resulting results ret return returned returning
    returns rev reverse rich right rio rok roku role roles roll root round rounded rounding routine row rows rst
    ruby rule rules run running runs runtime rust rych saat sadece safe sahip sal sale salsa salvage same sample
    sans sat satellite sau save saved saving say scalar scale scan schema scheme school scope scopes screen script
    scripts search searched searches sec second seconds section sections security see seek seen segment sein sel
    select selected selecting selection selections selector selects self send sense sensitive sent sentinel sep
    separat separate separated separator separators seq sequence sequences ser series server servers service
    services servidor session set setattr sets setting settings settlement setup seu several sha share shared sheet
    sheets shelf shell shells shift short shortcut should shouldn show showing shown shows shrink shutdown sich
    side sie sig sign signal signature signed significa significant siguiente silently similar similarity simple
    simplest simply simulate sin since sind single singleton sinh sistem sistema sistemas sistemi site six size
    sizeof ski skip sleep slice slideshow slots slug small smaller smallest smith snippet sob sobre social sock
    socket software sol sola solo som some something sometimes somewhat son sono sonra sont sonucu sonunda sort
    sorted sorting source sources spa space spaces spacing span spanish spans sparse spatial spec special specific
    specification specified specifies specify specifying speed spell split spos spr spreadsheet sql sqlite square
    squared src srv ssize ssl sta stack standard standart stands star start started starting starts stat state
    statement statements states static statistics stats status std stderr stdin stdout ste stellen step stick still
    stmt sto stop stops storage store stored stores str stream streaming strict strictly string strings strip
    stripped strong struct structure structured structures stuff styl style styles sua sub subclass subclasses
    subject subprocess subscribe subsequent subset success successful successfully successor such suffix sui sul
    sum sums sun sunday sunt sup super supplied supplier support supported supports suppress suppressed sur sure
    surrounded sus suspect svc svg swap switch symbol sync syntax sys syst system systems tab tabel tabela table
    tables tabs tag tagged tail tak take taken takes takip tam tamb tan tangent tar taraf target targets tarih
    tarihi tarihinde task tasks team technical tego tej tek tekst tell tem temel temp template templates temporary
    ten tener ter term terminated terms terra terug test tested testing tests text texts thai than that the their
    them then there therefore these they thi thing third this those though thousand thousands thread threading
    threads three through throw thrown thus ticks tiene till time timeout timer times timezone timings tin tip tipo
    tir title titles tmp toc todo todos together toggle tok token tokenizer tokens too toolbar tools top topic
    topics toplam tor tot total tous towards trace traceback tracing tracked trailing trait transcription
    transitional translate translation trav travel traverse tre treated trebuie tree tres triggered triple trong
    true try tty tun tuning tup tuple tuples turbo twice two txt tylko tym typ type typed typedef typename types
    typical typically uid uint uit ulong uma una unc unchanged und undef undefined under underlying underscore
    understand undo une unexpected unfinished unicode unified union unique unit units unix unknown unless unlock
    uno unpack unseen unsigned unter until unused update updated uploads upp upper uri url usable usage usando usar
    usb use used useful user users uses using uso usr usually utf util utilis utiliser utiliz utiliza utilizado
    utilizando utilizar utils val valeurs valid valor valore valores value values van var vara vari variable
    variables variance variant various vars varsa vector veel vel ven ver veri verifica verilen verir version
    versions vertical vertically verwenden very veya via vid video viene view views virtual vis visible vision
    visit visitor visual vocab vocabulary void volatile vom von voor vor votre vous wait walk want warn warning
    warnings warto was way ways wchar weak web website week weekday weight weiter welcome well wenn werd werden
    were what when whenever where whereas whether which while whisper whitespace who whole whose why wide widgets
    width wie wiki wikipedia wildcard will window windows wird with within without wizard won word worden words
    wordt work workers working works world would wrap wrapped wrapper wraps writable write writer writing written
    wrong wsp www wyst xem xml xor xxx yap yarat yard yat yaz year yearly years yeni yeniden yer yerine yes yet
    yield yielded yields you your zak zal zaman zast zav zde zel zen zero zeros zijn zip zoals zone zosta zum zur
    """.split()  # noqa: SIM905 - a list of them would take as many lines as words
)
