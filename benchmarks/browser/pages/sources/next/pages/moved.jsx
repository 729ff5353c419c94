import Catalogue from "../components/catalogue.jsx";

export default Catalogue;
