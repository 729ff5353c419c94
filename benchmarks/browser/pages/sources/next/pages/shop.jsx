import dynamic from "next/dynamic";

export default dynamic(() => import("../components/catalogue.jsx"), { ssr: false, loading: () => <p>Loading…</p> });
