"""What pieces of text weigh, and words that common vocabularies hold whole. Written by benchmarks/tokens.py."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = {
    "short word": (1358, 0),
    "known word": (1045, 0),
    "word": (1798, 280),
    "accents": (0, 58),
    "capital": (0, 890),
    "capitals": (2349, 300),
    "digits": (1000, 0),
    "newlines": (363, 0),
    "tabs": (1472, 0),
    "spaces": (586, 0),
    "space": (1000, 0),
    "signs": (834, 28),
    "repeated sign": (834, 0),
    "2 bytes": (1500, 0),
    "3 bytes": (2200, 0),
    "4 bytes": (3000, 0),
    "1 bytes": (1000, 0),
    "Greek": (524, 524),
    "Cyrillic": (1786, 66),
    "Hebrew": (800, 800),
    "Arabic": (479, 479),
    "Devanagari": (1961, 429),
    "Thai": (509, 509),
    "CJK signs": (1847, 1847),
    "Hiragana": (1366, 375),
    "Katakana": (1296, 577),
    "Han": (860, 860),
    "Hangul": (988, 988),
}
"""Thousandths of a token: of a piece, and of each more."""

WORDS: Final = frozenset(
    """
    aber ability able about above absence absent absolut absolute academic accept accepts access accessed according
    account accounts accuracy acquisition across action actions activate activated activation active activities
    activity actual actually adapt added adding addition additional addr address addresses adds administrator
    administrators adopt advanced advertising africa after aftermath afterwards again against ages agreement ainda
    ainsi aircraft aktiv alan album algo algorithm alguns alias aliases alignment alive alla alle aller allerdings
    alles allocate allocated allocation allow allowance allowed allowing allows alone along alors already also
    alter alternate alternative alternatively although always amazon amend america american amigos among amount
    analysis analytics analyze andere anderen andy ange animal annual anonymous another answer answering answers
    antarctica antes antibodies anyone anything anywhere apenas appear appears append appended appendix apple
    applicable application applications applied applies apply appropriate appropriately arabic arbitrary
    architecture archive archives area areas arena argc args argument arguments argv arithmetic army around array
    arrays arrived arrow article artifacts ascii asked asks aspect assay assembled assert asset assign assistance
    assistants associated association assume assumed assumes assure atlantic atomic attach attached attack attempt
    attempting attempts attr attribute attributes attrs auch audio august aussi australian auth authentication
    author authorized authors auto automat automated automatic automatically autor autre autres available avait
    avant avec aver average avez avoid avoir award awards away back background backup backups backward backwards
    band bang banks barack base based basename basic basis basketball bastante batch battle beaucoup became because
    become becomes been before began begin beginning behave behaves behavior beim being beispiel believe bell
    belong belongs below benjamin bent bereits besoin best better betty between beyond bien binary bios birthday
    bitmap bits blank blob block blockade blocks bloomberg bodies body bond bone book books bool boolean boot bore
    born borrowed boston both bottom bound bounds boxes brackets brain branch branches brave break breaking breed
    brief britain british broker bron browser bucket buffer bugs build building builds built builtin bureau burn
    business button buttons byte bytes cache cached caches caching cada calc calculate calculated calculates
    calculation calculations calculator calendar call callable callback callbacks called callers calling calls
    campaign campbell campo campus canada canadian candidate cannot canonical cantidad canvas capability capable
    cape capital cardinal care career carefully carriers casa case cases cash casi caso casos cast catalog catch
    category cause caused causes cela cele cell celle cells center central centre century cere certain cette chain
    chang change changed changes changing channel channels chapter chaque char character characters charge charles
    charset chart charts chat check checkbox checked checking checks checksum chest chicago children china chinese
    choices choose choosing chop chose chosen christian chunk chunks church churches circle city clark class classe
    classes claude clause clauses clean clear clearly click clicked clicking client clients clipboard clone close
    closed closing closure cloud cluster cmds code codes coefficients coil coisa collect collection collections
    college colon colonel color colors cols column columns combination combined combo come comes comic comma
    command commande commander commands comme commence comment comments commit common commonly commons community
    como comp company comparable compare compared comparison comparisons compatibility compatible compilation
    compile compiled compiler complet complete completes completion complex complexes component components composed
    compress compressed compression compressor compute computed computer computes cond condition conditional
    conditions conduct conducted conf config configuration configure configured confirm confirmed conflicts
    confusion conjunto connect connected connecting connection consider considered consistent consisting consists
    console const constant constants constitute constitutes constraints construction constructor conta contact
    contain contained container containers containing contains contemporary content contents context contiguous
    continent continue continued continuing continuously contract contrast contre contrib contributed contributions
    control controller controlling controls convenient conversion convert converted converts cookies coordinate
    coordinates copied copies copy copying copyright core coronavirus coroutine corporation correct correctly
    correspond corresponding corresponds cosa cosine cost costume cough could count counted counter countries
    country counts course covered covid create created creates creating creation creators credit credits criteria
    criterion critical cross crossed ctrl cual cualquier cuando cuenta culture cumulative currency current
    currently curses cursor custom customer customers customized cutoff cycle cycles cylinder dabei dados daher
    daily dallas daniel dann dans dare dass data database databases dataset datatype date daten dates datetime
    datos days debe debian debug decide decimal decir decision declaration declarations declare declared decode
    decreases default defaults defect defer define defined defines definition definitions degree degrees delays
    delete deleted deletes delimiter deliver dell della delta demonstrate density dentro denver depend dependencies
    dependent depending depends deploy depois deposit deprecated depth depuis deque derived descending describe
    described describes description descriptor desde design designated designed desired desktop dess dest desta
    deste destination destined destroy destroyed destruction detail detailed details detected detection detects
    determine determined determines deux deve developed developer development device devices dhcp dial dialog dict
    dictionary dies diese diesem diesen dieser dieses diferentes diff difference different diffusion digit digital
    digits dijo dimension dimensional dinero dire direct direction directive directives directly directories
    directory dirname disable disabled disc discarded disclaimer discussion disease disk dispatch display displayed
    displaying displays disposition dist distance distances distinct distinction distribute distributed
    distributing distribution district division django dock docs document documentation documented documents does
    doesn doing doit dollar domain donc donde done donner dont door dose double doute down download downward drag
    drain draw drawing drive driver drives drop duas dummy dump durante durch during dynamic each earlier early
    earth easiest easily east eastern echo edge edit editable edited editing effect effective effectiveness effects
    efter eigen eigene eigenen eine einem einen einer eines einfach einzelnen either elders element elements elif
    elle eller ellos else elsewhere email embargo embed embedded emerged emergence emitted empty enable enabled
    enables enclosed encode encoded encoding encontrar encore encounter endian endif ending endpoint endpoints
    engine engineering england english enough ensure ensures enter entered entering entire entirely entrada entre
    entries entry entsprechende entsprechenden enum enumerate environ environment episode episodes equal equality
    equals equivalent erro error errors escape especial essa essential essentially esta estaba established estados
    estar estas este estimate estimated esto ethernet etwas euro europa europe european eval evaluate evaluation
    even event every everything exact exactly exam example examples exceeded excel except exception exceptions
    exchange excluded exclusive exec executable execute executed execution exemple exemplo exist existe existing
    exists exit exon expand expansion expect expected expedition experience experiment experimental expert expires
    explained explains explanation explicit exploitation exponent exponential export exported exports exposed expr
    expressed expression expressions extend extended extends extension extensions extern external extra extract
    extracted face facile factor fail failed fails failure failures faire fait fall fallback falls false familiar
    family famous fare fast faster favicon favor fazer feature features february federal fell fetch fewer fichier
    field fields fifa figure file filename filenames files filesystem fill film filter filters final finale finally
    find fine finished first fits fixed flag flags flat fleet float flood fname focus fois folder follow followed
    following follows font force forces ford form forma format formation formats formatted formatting formed former
    forms formula formulas fort forward fost found foundation founded four fourier fourth fraction fractional frage
    fragment frame france free freed freedom french frequency friendly from front frozen fruit full fully func
    function functionality functions further future game gamma ganz gateway gauge gegen gene general generally
    generate generated generation generator generic genes gens gente geographic george gerald german germany
    getattr getopt gets gettext getting gibt github give given gives giving global globals goldman good gore gothic
    govern governor graham gran grand grande grant grants graphics grave great greater green greens grep ground
    group groups grund grupo guarantee guaranteed guess guests guide guidelines gzip haben hace hacer half hall
    hand handle happen happened happens hard hardware harry hasattr hash hasta have having head header headers
    heading headings heads health heat height hello help helper helpful hence henry here hess heterogeneous hidden
    hides hier high higher highest highlight highlighted highlighting highlights hint hints history hitler hits
    hold holds home hope hora host hosted hostname hour hours however href html http https human hyde hypothesis
    icon idea identical identified identifier identify identity ieee ignore ignored ignores ignoring ihre ihren
    ihrer illness illnesses image imagen images imaginary imgs immediately immer impl implement implementation
    implementations implemented implicit implies import important importante imported impress improve improving
    include included includes including inclusion incoming incomplete increases indent independent index indexes
    indian indians indicated indicates indicating individual infected infection infinity influence info information
    informationen informations inicio init initial initialization initialized initially initiate inline inner
    inplace input inputs insert inserted inserts inside inspect install installation installations installed
    installer instance instances instead institute institution instr instruction instructions instrument inte
    integer integers integrity intended interactive interest interface interfaces internal international internet
    interp interpret interpretation interpreted interpreter interval intervals into invalid invasion inverse
    investment invited invocation invoke invoked involved involving irene isinstance isolated isso issue issues
    italian italy item items iter iterable iterative itself jackson jacques jahre jahren james january japanese
    java javascript javax jean jest jetzt jobs john join joint joseph jour journal jours jpeg json july jump june
    jusqu just kann keeping keine kenya kept kernel keyboard keys keyword keywords khan kinds knowledge known
    kommer korean kwargs label labeled labeling labels laboratories laboratory lack lado lake lambda land lang
    language languages laptop large largely larger largest lassen last late latency later latest latin latitude
    latter laws lead leader leaders leading league learn least leave left legacy legal length less letter letters
    leur level levels liber libraries library licence license licenses lieu life ligne like likely limit limitation
    limitations limited limits line lines linha link linkage linked linking links linux list lista liste listed
    lists literal literals little live load loaded loading local locale localized locals located location locations
    logging logical login logo logs london long longer longest longitud longitude look looks lookup loop loops lord
    losing lots louis lower lowest lugar lung machen machine machines macro macros made mail mailbox mailing main
    maintain mais major make makes making mall manage managed management manager managing mang manifest manual
    manually manuals manufacturer many maps march mari mark markdown marked marker markers marks marshal mask
    massachusetts master match matches matching math mathematical mathematics matrix matter maximum mayor mean
    meaning means measure measures mechanism media medical medium meer mehr melbourne melhor member members
    membrane memory menor menschen mentioned menu menus mercedes merge merrill mesmo message messages meta metavar
    meters meth method methods metric metrics mettre michael microsoft mieux might mild miles military million
    millions mini minimal minimized minimum minus minute minutes mirror mirrors mismo missing mitchell mixed mode
    model modelo models modern modified modifier modifiers modify modo module modules modulo moins moment momento
    monde mono month monthly months montreal more most mostly mostrar motto mounted mouse move moved moves mqtt
    much mucho muito mult multi multiple multiplication multiplied multitude mundo museum music muss must mutable
    mysql nach name named names namespace nano nargs national native natural naval navigate navigator nearest
    necessary need needed needle needs negative neighbor neighbors neither nested netflix network networks neue
    neural neurons never newcastle newer newline newly news next nicht niet nintendo noch node nombre nome nominal
    none nord normal normalized normally norman north nota notation note notebook notes nothing notice
    notifications notify nous nova novo nuevo null numa number numbers numeric numerical numero numpy obama object
    objects observations observed obsolete obtain obtained obviously occupy occur occurred occurrences occurs
    october oder offered office official offset often ohne older oldest omitted once onde ones ongoing online only
    onto open opened opening operand operate operating operation operations operator operators opposite optical
    optimization optimize option optional optionally options opts oracle orden order ordered ordering ordinal
    oriented origin original originated other others otherwise otra otras otros outbreak outer outfile outgoing
    outline output outputs outro outros outside over overflow overhead overridden override overview overwrite
    overwritten owner pack package packages packs page pages paid pair pandemic paper para paragraph paragraphs
    parallel parameter parameters params parent parentheses paris park parse parser part parte parti particular
    partie parties partir partition partitions parts party pass passed passes passing password past paste patch
    patches path pathname paths patient patients pattern patterns paul payment payments pays peek peine pela pelo
    pendant pens people peptide percent percentage perform performance performances performed performs period
    periods permanent permission permissions permit pero persistent person personal personas pessoas petite petrol
    peut phase phases pierre pivot pixels place placed placeholder placeholders places plain plan planes plateau
    platform platte play played player players please plugin plus pode poder point pointer pointers points poland
    polar pole policies policy popular population porque port portable position positional positioned positive
    possible post postal pour power pprint preceding precisely predefined predicate predicates predicted prefer
    preferred prefix premier premiers prend prendre prepare presence present presentation preset press pressing
    pretty prev prevalence prevent prevents preview previous previously price prima primary primeira primeiro
    primer primera primers primitive principal print printed printer printing prior priority privacy private
    privilege probabil probability probably problem problema problemas problems proc process processed processes
    processing processo processors produce produced producer produces production profile profiler profiles prog
    program programa programme programmes programs progress project projet prompt propagate proper properly
    properties property protein proteins protocol provide provided provides providing provision proxies public
    published publisher puede puis pull pump pumps punto purchase purchased purge purposes push python qual quality
    qualquer quand quando quarter quebec quel quelques quer queries query question questions queue quickly quite
    quota quotation quote quoted quotes raise raised raison random range ranges rapid rapport rate rather reaches
    read readable reading readline readme readonly real reason reasoning reasons reboot receive received recent
    recht recipient recipients recommended record recorded records rectangular recursion recursive rede reduce
    reduces refer reference references referred refers refs regarding regardless regel regex region register
    registered registry regular regulations related relation relations relationship relative release released
    releases relevant remain remainder remaining remains remote removable remove removed removes rend render repeat
    repeated repeating repl replace replaced replacement replacing replica replicas replication repo report
    reported reports repositories repository repr represent representation representations represented representing
    represents request requested requests require required requirements requires research reserved reset resize
    resolve resolved resolver resource resources respect respective respectively response responses responsible
    rest restart reste restore restrict restriction restrictions result resultados resulting results retention
    retour retrieves return returned returning returns revealed reverse revert review rich right rights risk river
    rivers role roles roman root roots rotation round rounded rounding route routine routines rows ruby rule rules
    running runs runt runtime russian rust saber safe safety saint salsa same sample samples sang sans santa sars
    satellite satisfy save saved savoir scalar scale scanning scenarios schema scheme school schools sciences
    scientific scope scopes scoring scotia screen screening script scripts search searched season second seconds
    section sections security sedan seeing seek seen segment segunda segundo sehr sein seine seja selbst select
    selected selecting selection selections selects self semantic send sends sens sensible sensitive sent separate
    separated separator separators sept sequence sera serait serie series serve server servers service services
    session sessions sets sett setting settings settlement setup seul seule seulement seus several severe shall
    shanghai share shared sharing sheet sheets shell shells shift ships shirley short shortcut shortest should
    shouldn show shown shows shutdown sich sick side sido sign signal signature signed significant siguiente
    similar similarity simon simple simplest simply simultaneously since sind sine singer single singleton sistema
    site situation size sizeof skip slash sleep slice slots slow slug slut small smaller smith snapshot snippet
    sobre social sock socket software soit sold sollte solo solution solve some someone sometimes somewhat song
    sont sort sorte sorted sorting sorts source sources sous southern sowie space spaces spacing spam span spanning
    spec special specific specification specified specifies specify specifying spectrum speed spell split sports
    spre spread spreadsheet sprint sqlite square squared stack stage standalone standard star start started
    starting starts state statement states static stats status stay stdout stem step steps sterling stick still
    stock stop stopped stops stor storage store stored stores story stream streaming streams strict strictly string
    strings strip stripped strong struct structure structured structures student studio study styl style styles
    suas subclass subject submitted subscribe subscribed subscription subscriptions subsequent subsidy substitute
    success successful successfully such suffix suggestions suite summaries summary sums super supplier suppliers
    supplies supply support supported supports suppose sure surface surrounded suspect swap switch switches
    switching symbol symbolic symbols symptoms sync syntax system systems tabel tabla table tableau tables tabs
    tail taille take taken takes tales tangent tanto tarde target targeting targets task tasks teachers team teams
    technical teil television tell temp temperature template templates tempo temporary temps tener term terminal
    terminated test tested testing tests text texte texto texts thai than that their them themes then there
    therefore these they things third this thomas those thousands three threshold through throughout throw thrown
    throws thumb thus tidal tide tiempo tiene tienen till time timer times timestamp tipo title titles todas today
    todo todos toen together toggle token tokens toolbar tools topic topics total toujours tour tous tout toutes
    towards tower toyota trabajo trabalho trace traceback track tracked tracking trading trailer trailing train
    training trait transaction transcription transform transformation transformer translation transmission travel
    travels traverse treat treated treatment tree trent tres trial triggered triggers triple trois troops trop
    trouver true trust truth trying tudo tumor tuning tuple tuples turbo type typedef typename types typical
    typically uint unde undef under understand undo unicode uniform union unique unit united units university unix
    unknown unless unlike unpack unsafe unsigned unter until unused update updated uploads upper upstream upward
    urls usable usage usar used useful user users uses using usually usuario utan utilized utils vacuum valid
    validated validation valor valores value values vapor vara vari variable variables variant variants varies
    various veces vector verificar verify vers versailles version versions very vezes victoria victorian victory
    video viel viele view views vill vine viral virgin virtual virus viruses visible visit vista visual void
    volunteers voor votre vous wait walk wang want warn warning warnings warsaw washington weak weather website
    week weekday weeks weight welche welcomed well wenn werden were western what when whenever where whereas
    whether which whichever while whitespace whole whom whose wide width wieder wiki wikipedia will william
    williams window windows wipe wird with within without word worden words work worker workers workflow workforce
    working works world worldwide worry would wrap wrapped wrapper writable write writer writing written wrong
    wurde yard year years yield yields york your yyyy zeit zero zeros zijn zusammen zwei zwischen
    """.split()  # noqa: SIM905 - a list of them would take as many lines as words
)
